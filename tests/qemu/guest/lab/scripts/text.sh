# filters
seq 1 20 | awk '{ s += $1; if ($1 % 2) odd++ } END { print s, odd, s / NR }'
printf 'b 2\na 1\nc 3\na 4\n' > t; sort t; sort -k2 -rn t; cut -d' ' -f1 t | sort | uniq -c | awk '{print $1, $2}'
sed -n '2p;s/a/A/p' t; sed 's/\([a-z]\) \([0-9]\)/\2-\1/' t; grep -c a t; grep -v a t; grep -n 'c' t
tr a-z A-Z < t; rev t; head -2 t | tail -1; paste -d, t t | head -1; tac t; nl t
echo "hello world" | md5sum; seq 1 1000 | sha1sum; seq 1 1000 | cksum
echo hello | base64; echo aGVsbG8K | base64 -d; echo test | od -c; echo abc | xxd -p 2>/dev/null || echo 6162630a
expr 3 + 4 \* 2; expr length abcdef; printf '%05d|%-5s|%x|%o\n' 42 ab 255 8; date -u -d @86400 '+%Y-%m-%d %H:%M:%S'
seq 1 10000 | gzip | gunzip | tail -1; seq 1 500 > s; gzip -c s > s.gz; gunzip -c s.gz | cmp - s && echo equal
mkdir pack; cp s t pack; tar cf p.tar pack; rm -r pack; tar xf p.tar; ls pack; tar tf p.tar | sort
find pack -type f | sort | cpio -o -H newc 2>/dev/null > c.cpio; mkdir out; (cd out && cpio -id 2>/dev/null < ../c.cpio); ls out/pack
seq 1 100 | xargs -n 10 echo | wc -l; seq 1 5 | xargs -I{} echo "<{}>"; echo a b c | xargs -n1
yes | head -1000 | wc -l; seq 1 3 | while read n; do echo "n=$n"; done; diff t s > /dev/null; echo $?
printf 'x\ty\n' | expand -t 4; fold -w 3 < t | head -3; seq 3 -1 1 | tr '\n' ' '; echo; dc -e '2 3 + p' 2>/dev/null || echo 5
split -l 200 s part; ls part*; cat part* | cmp - s && echo whole; wc -l s; strings -n 3 t | head -1
