# many of everything
i=0; while [ $i -lt 60 ]; do (exit 0) & i=$((i + 1)); done; wait; echo forked
seq 1 2000 | xargs -n 500 touch; ls | wc -l; ls | xargs rm; ls | wc -l
seq 1 300 | while read n; do echo $n; done | sort -n | tail -1
mkdir -p a/b/c/d/e/f/g/h; cd a/b/c/d/e/f/g/h; echo deep > x; cd - > /dev/null; cat a/b/c/d/e/f/g/h/x
for i in 1 2 3 4; do seq 1 20000 | sha1sum > sum$i & done; wait; cat sum* | sort -u | wc -l
dd if=/dev/zero of=z bs=64k count=100 2>/dev/null; sha256sum z | cut -c 1-16; rm z
s=x; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do s=$s$s; done; echo ${#s}; echo $s | wc -c
seq 1 50 | xargs -P 8 -I{} sh -c 'echo {}' | sort -n | md5sum
awk 'BEGIN { for (i = 0; i < 200000; i++) a[i] = i; n = 0; for (k in a) n += a[k]; print n }'
