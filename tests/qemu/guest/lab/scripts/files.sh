# names, links, modes, times
umask 022
mkdir -p d/e/f; echo text > d/file; ln d/file d/hard; ln -s file d/soft; cp -r d copy
ls d copy; stat -c '%n %F %s %a %h' d/file d/hard d/soft; stat -c '%n %F %a %h' d/e
readlink d/soft; cat d/soft; mv d/file d/e/moved; cat d/soft 2>&1; cat d/hard
chmod 640 d/hard; stat -c %a d/hard; touch -d '2001-02-03 04:05:06' d/hard; stat -c %y d/hard | cut -c 1-19
mkdir d 2>&1; rmdir d 2>&1; rm d/nothing 2>&1; echo $?
rm -r d; ls; find copy | sort; test -L copy/soft && echo link; test -d copy/e && echo dir
echo one > a; echo two >> a; cat a; : > a; wc -c < a
truncate -s 10000 sparse; wc -c < sparse; od -An -tx1 -N4 sparse
dd if=/dev/zero bs=100 count=3 2>/dev/null | tr '\0' x > big; dd if=big bs=10 skip=29 2>/dev/null; echo
printf abc | dd of=big bs=1 seek=5 conv=notrunc 2>/dev/null; head -c 10 big; echo
mkfifo pipe; echo through > pipe & cat pipe; wait; rm pipe
mv copy moved && ls -R moved; cd moved && pwd -P | sed 's,.*/,,'; cd ..
ln -s loop loop; cat loop 2>&1; ls nothing/here 2>&1; cat moved 2>&1
echo x > 'name with  blanks'; ls name*; i=0; while [ $i -lt 100 ]; do : > many$i; i=$((i+1)); done
ls many* | wc -l; rm many*; ls many* 2>&1; cp a b; cmp a b && echo same; chmod 000 b; cat b; rm -f b
