# processes and signals
sh -c 'sleep 100 & p=$!; kill -0 $p && echo alive; kill $p; wait $p; echo $?' 2>/dev/null
sh -c 'kill -9 $$'; echo $?; sh -c 'kill -SEGV $$' 2>/dev/null; echo $?
trap 'echo got usr1' USR1; kill -USR1 $$; trap - USR1
(trap '' TERM; kill -TERM $(sh -c 'echo $PPID'); echo survived)
sh -c 'trap "echo term; exit 4" TERM; sleep 0.1 & kill -TERM $$; wait'; echo $?
for n in 1 2 3; do (sleep 0.0$n; exit $n) & done; wait; echo all
(exit 5) & wait $!; echo $?; timeout 0.1 sleep 10; echo $?; timeout 5 true; echo $?
sh -c 'echo $0 $1' name arg; exec 5> fd; echo five >&5; exec 5>&-; cat fd
{ echo out; echo err >&2; } 2> e | cat; cat e; (cd /; pwd); nohup true 2>/dev/null; echo $?
nice -n 5 sh -c nice; sh -c 'ulimit -n 64; ulimit -n'; umask; sh -c 'umask 077; umask'
nonexistent 2>/dev/null; echo $?; touch noexec; ./noexec 2>/dev/null; echo $?
printf '#!/bin/sh\necho script $1\n' > s; chmod +x s; ./s arg; echo 'echo no magic' > m; chmod +x m; ./m
true | false | true; echo $?; yes | head -1; seq 1 100000 | head -2; sh -c 'exit 300'; echo $?
env -i A=1 /bin/sh -c 'echo $A ${B-none}'; sh -c 'sleep 0.05; echo late' & wait; echo done
a=$(sleep 0.01 & echo quick); echo $a; time -p true 2>/dev/null; readlink -f . > /dev/null; echo $?
sh -c 'sleep 1000 & echo $! > pid; exec sleep 1000' & sleep 0.1; kill $!; kill $(cat pid); wait 2>/dev/null; echo end
