#!/usr/bin/env bash
# sqlite3 loads tables, joins, sorts and groups; what it prints equals what it prints without the library.
source "$(dirname "$0")/common.sh"
need sqlite3 sqlite3

rows=60000
if [[ $TIDEPOOL_ALL == 1 ]]; then rows=600000; fi
cat >script.sql <<SQL
PRAGMA cache_size = 2000;
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, data BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $rows)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 100003), (i * 31 % 10007) / 100.0, zeroblob(i % 200) FROM n;
CREATE INDEX by_name ON item (name);
CREATE TABLE sale (item INTEGER, day INTEGER, amount INTEGER);
INSERT INTO sale SELECT id, id % 365, id * 13 % 97 FROM item;
INSERT INTO sale SELECT item, (day + 180) % 365, amount + 1 FROM sale;
SELECT count(*), sum(amount) FROM sale;
SELECT day, sum(amount * price) FROM sale JOIN item ON item.id = sale.item GROUP BY day ORDER BY 2 DESC LIMIT 10;
SELECT name, group_concat(id) FROM (SELECT * FROM item ORDER BY name, id LIMIT 5000) GROUP BY name ORDER BY name LIMIT 50;
UPDATE item SET name = upper(name) || printf('%0100d', id) WHERE id % 3 = 0;
DELETE FROM item WHERE id % 5 = 0;
SELECT sum(length(name)), sum(length(data)) FROM item;
SELECT json_group_array(id) FROM (SELECT id FROM item WHERE id % 1000 = 1 ORDER BY id);
VACUUM;
PRAGMA integrity_check;
SQL
sqlite3 plain.db <script.sql >plain.txt
under sqlite3 ours.db <script.sql >ours.txt
grep -qx ok plain.txt || fail "the script itself fails"
cmp plain.txt ours.txt || fail "the output differs"
[[ $(sqlite3 plain.db .dump | sha256sum) == "$(sqlite3 ours.db .dump | sha256sum)" ]] || fail "the databases differ"
