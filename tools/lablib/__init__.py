"""lablib: the host's half of the lab. It boots one machine per run, reads records, and judges claims.

records.py   what the guest printed, as a Run
stats.py     means, spreads, percentiles, when an effect is real
claims.py    verdicts: pure functions from figures to reproduced / direction only / not reproduced
drive.py     boots the runs of a plan, A B B A, several at a time
report.py    the text, CSV and JSON of one experiment; page.py the HTML page; svg.py its pictures
doc001.py    one file per document: plan, figures, claims, as data
"""
