# the shell's own language
x=hello; echo ${#x} ${x%l*} ${x#*l} ${x/l/L} ${y:-default} ${x:1:3}
i=0; while [ $i -lt 5 ]; do i=$((i + 1)); [ $i = 3 ] && continue; printf '%d ' $i; done; echo
case abc in a*) echo starts;; *) echo no;; esac
f() { local v=$1; echo "f $v $#"; return 7; }; f a b; echo $?
(exit 3); echo $?; ! true; echo $?
echo "$(echo nested "$(echo deep)")" `echo old`
set -- one "two three" four; echo $# "$2"; shift; echo "$*"; for w in "$@"; do echo "<$w>"; done
cat <<END
here $x $((6 * 7))
END
cat <<'END'
quoted $x
END
echo err >&2 2>/dev/null; { echo a; echo b >&2; } 2>&1 | sort
trap 'echo leaving' EXIT
eval 'echo evaluated'; type cd; unset x; echo "${x-unset}"
echo $((0x10 + 010 << 2)) $((7 / 2)) $((-7 % 3)) $((1 ? 5 : 6))
read a b <<END
first second third
END
echo "$b,$a"; IFS=:; set -- a:b:c; for p in $1; do echo $p; done
