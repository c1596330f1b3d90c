// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/**
 * Faults of nodes over real HTTP, and the outcome of one call. Bad nodes are selected first. A cell
 * shows the client's answer and the number of requests per node, in the order a/b/c or a/z:
 *
 * - `b 1/1`: the right answer from b after one attempt at a; `*`: an accepted write
 * - `a stale`: right at the latest block of a lagging node; `a null`: a null result
 * - `c 429`, `c -32005`: the last node's own error page or error, unmodified
 * - a word: the reason of the router's own error
 *
 * A call about one node's own state (`local`) is retried only if it reached no node. If two nodes
 * differ on the tip, the lower one lags. `null` is an answer.
 */
export const grid = `
fault             | call   | one bad of two      | one bad of three      | all three bad         | bad, and a good backup
down              | read   | b 0/1               | b 0/1/0               | upstream-failed 0/0/0 | z 0/1
down              | latest | b 0/1               | b 0/1/0               | upstream-failed 0/0/0 | z 0/1
down              | write  | * 0/1               | * 0/1/1               | upstream-failed 0/0/0 | * 0/1
down              | local  | b 0/1               | b 0/1/0               | upstream-failed 0/0/0 | z 0/1

slow              | read   | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0
slow              | latest | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0
slow              | write  | * 1/1               | * 1/1/1               | * 1/1/1               | * 1/0
slow              | local  | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0

too slow          | read   | b 1/1               | b 1/1/0               | timeout 2/2/1         | z 1/1
too slow          | latest | b 1/1               | b 1/1/0               | timeout 2/2/1         | z 1/1
too slow          | write  | * 1/1               | * 1/1/1               | timeout 1/1/1         | * 1/1
too slow          | local  | timeout 1/0         | timeout 1/0/0         | timeout 1/0/0         | timeout 1/0

hang              | read   | b 1/1               | b 1/1/0               | timeout 2/2/1         | z 1/1
hang              | latest | b 1/1               | b 1/1/0               | timeout 2/2/1         | z 1/1
hang              | write  | * 1/1               | * 1/1/1               | timeout 1/1/1         | * 1/1
hang              | local  | timeout 1/0         | timeout 1/0/0         | timeout 1/0/0         | timeout 1/0

reset before head | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
reset before head | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
reset before head | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
reset before head | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

reset after head  | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
reset after head  | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
reset after head  | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
reset after head  | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

half by length    | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
half by length    | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
half by length    | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
half by length    | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

half chunked      | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
half chunked      | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
half chunked      | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
half chunked      | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

429 in seconds    | read   | b 1/1               | b 1/1/0               | c 429 1/1/1           | z 1/1
429 in seconds    | latest | b 1/1               | b 1/1/0               | c 429 1/1/1           | z 1/1
429 in seconds    | write  | * 1/1               | * 1/1/1               | * 429 1/1/1           | * 1/1
429 in seconds    | local  | a 429 1/0           | a 429 1/0/0           | a 429 1/0/0           | a 429 1/0

429 until a date  | read   | b 1/1               | b 1/1/0               | c 429 1/1/1           | z 1/1
429 until a date  | latest | b 1/1               | b 1/1/0               | c 429 1/1/1           | z 1/1
429 until a date  | write  | * 1/1               | * 1/1/1               | * 429 1/1/1           | * 1/1
429 until a date  | local  | a 429 1/0           | a 429 1/0/0           | a 429 1/0/0           | a 429 1/0

429 bare          | read   | b 1/1               | b 1/1/0               | c 429 1/1/1           | z 1/1
429 bare          | latest | b 1/1               | b 1/1/0               | c 429 1/1/1           | z 1/1
429 bare          | write  | * 1/1               | * 1/1/1               | * 429 1/1/1           | * 1/1
429 bare          | local  | a 429 1/0           | a 429 1/0/0           | a 429 1/0/0           | a 429 1/0

quota with 200    | read   | b 1/1               | b 1/1/0               | c -32005 1/1/1        | z 1/1
quota with 200    | latest | b 1/1               | b 1/1/0               | c -32005 1/1/1        | z 1/1
quota with 200    | write  | * 1/1               | * 1/1/1               | * -32005 1/1/1        | * 1/1
quota with 200    | local  | a -32005 1/0        | a -32005 1/0/0        | a -32005 1/0/0        | a -32005 1/0

own form of quota | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
own form of quota | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
own form of quota | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
own form of quota | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

500 json          | read   | b 1/1               | b 1/1/0               | c 500 1/1/1           | z 1/1
500 json          | latest | b 1/1               | b 1/1/0               | c 500 1/1/1           | z 1/1
500 json          | write  | * 1/1               | * 1/1/1               | * 500 1/1/1           | * 1/1
500 json          | local  | a 500 1/0           | a 500 1/0/0           | a 500 1/0/0           | a 500 1/0

502 html          | read   | b 1/1               | b 1/1/0               | c 502 1/1/1           | z 1/1
502 html          | latest | b 1/1               | b 1/1/0               | c 502 1/1/1           | z 1/1
502 html          | write  | * 1/1               | * 1/1/1               | * 502 1/1/1           | * 1/1
502 html          | local  | a 502 1/0           | a 502 1/0/0           | a 502 1/0/0           | a 502 1/0

503 empty         | read   | b 1/1               | b 1/1/0               | c 503 1/1/1           | z 1/1
503 empty         | latest | b 1/1               | b 1/1/0               | c 503 1/1/1           | z 1/1
503 empty         | write  | * 1/1               | * 1/1/1               | * 503 1/1/1           | * 1/1
503 empty         | local  | a 503 1/0           | a 503 1/0/0           | a 503 1/0/0           | a 503 1/0

401 html          | read   | b 1/1               | b 1/1/0               | c 401 1/1/1           | z 1/1
401 html          | latest | b 1/1               | b 1/1/0               | c 401 1/1/1           | z 1/1
401 html          | write  | * 1/1               | * 1/1/1               | * 401 1/1/1           | * 1/1
401 html          | local  | a 401 1/0           | a 401 1/0/0           | a 401 1/0/0           | a 401 1/0

400 html          | read   | b 1/1               | b 1/1/0               | c 400 1/1/1           | z 1/1
400 html          | latest | b 1/1               | b 1/1/0               | c 400 1/1/1           | z 1/1
400 html          | write  | * 1/1               | * 1/1/1               | * 400 1/1/1           | * 1/1
400 html          | local  | a 400 1/0           | a 400 1/0/0           | a 400 1/0/0           | a 400 1/0

404 html          | read   | b 1/1               | b 1/1/0               | c 404 1/1/1           | z 1/1
404 html          | latest | b 1/1               | b 1/1/0               | c 404 1/1/1           | z 1/1
404 html          | write  | * 1/1               | * 1/1/1               | * 404 1/1/1           | * 1/1
404 html          | local  | a 404 1/0           | a 404 1/0/0           | a 404 1/0/0           | a 404 1/0

413 html          | read   | b 1/1               | b 1/1/0               | c 413 1/1/1           | z 1/1
413 html          | latest | b 1/1               | b 1/1/0               | c 413 1/1/1           | z 1/1
413 html          | write  | * 1/1               | * 1/1/1               | * 413 1/1/1           | * 1/1
413 html          | local  | a 413 1/0           | a 413 1/0/0           | a 413 1/0/0           | a 413 1/0

415 empty         | read   | b 1/1               | b 1/1/0               | c 415 1/1/1           | z 1/1
415 empty         | latest | b 1/1               | b 1/1/0               | c 415 1/1/1           | z 1/1
415 empty         | write  | * 1/1               | * 1/1/1               | * 415 1/1/1           | * 1/1
415 empty         | local  | a 415 1/0           | a 415 1/0/0           | a 415 1/0/0           | a 415 1/0

empty body        | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
empty body        | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
empty body        | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
empty body        | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

invalid json      | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
invalid json      | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
invalid json      | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
invalid json      | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

wrong id          | read   | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
wrong id          | latest | b 1/1               | b 1/1/0               | upstream-failed 1/1/1 | z 1/1
wrong id          | write  | * 1/1               | * 1/1/1               | upstream-failed 1/1/1 | * 1/1
wrong id          | local  | upstream-failed 1/0 | upstream-failed 1/0/0 | upstream-failed 1/0/0 | upstream-failed 1/0

gzip              | read   | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0
gzip              | latest | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0
gzip              | write  | * 1/1               | * 1/1/1               | * 1/1/1               | * 1/0
gzip              | local  | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0

lag               | read   | b 0/1               | b 0/1/0               | c -32000 1/1/1        | z 1/1
lag               | latest | b 0/1               | b 0/1/0               | a stale 1/0/0         | a stale 1/0
lag               | write  | * 1/1               | * 1/1/1               | * 1/1/1               | * 1/0
lag               | local  | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0

pruned            | read   | b 1/1               | b 1/1/0               | c -32000 1/1/1        | z 1/1
pruned            | latest | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0
pruned            | write  | * 1/1               | * 1/1/1               | * 1/1/1               | * 1/0
pruned            | local  | a 1/0               | a 1/0/0               | a 1/0/0               | a 1/0

null result       | read   | a null 1/0          | a null 1/0/0          | a null 1/0/0          | a null 1/0
null result       | latest | a null 1/0          | a null 1/0/0          | a null 1/0/0          | a null 1/0
null result       | local  | a null 1/0          | a null 1/0/0          | a null 1/0/0          | a null 1/0

reverts           | call   | a 3 1/0             | a 3 1/0/0             | a 3 1/0/0             | a 3 1/0
reverts           | read   | a 3 1/0             | a 3 1/0/0             | a 3 1/0/0             | a 3 1/0
reverts           | latest | a 3 1/0             | a 3 1/0/0             | a 3 1/0/0             | a 3 1/0
reverts           | write  | * 1/1               | * 1/1/1               | * 3 1/1/1             | * 3 1/0
reverts           | local  | a 3 1/0             | a 3 1/0/0             | a 3 1/0/0             | a 3 1/0

unknown error     | read   | b 1/1               | b 1/1/0               | c -32000 1/1/1        | z 1/1
unknown error     | latest | b 1/1               | b 1/1/0               | c -32000 1/1/1        | z 1/1
unknown error     | write  | * 1/1               | * 1/1/1               | * -32000 1/1/1        | * -32000 1/0
unknown error     | local  | a -32000 1/0        | a -32000 1/0/0        | a -32000 1/0/0        | a -32000 1/0

parse error       | read   | b 1/1               | b 1/1/0               | c -32700 1/1/1        | z 1/1
parse error       | latest | b 1/1               | b 1/1/0               | c -32700 1/1/1        | z 1/1
parse error       | write  | * 1/1               | * 1/1/1               | * -32700 1/1/1        | * 1/1
parse error       | local  | a -32700 1/0        | a -32700 1/0/0        | a -32700 1/0/0        | a -32700 1/0

no request        | read   | b 1/1               | b 1/1/0               | c -32600 1/1/1        | z 1/1
no request        | latest | b 1/1               | b 1/1/0               | c -32600 1/1/1        | z 1/1
no request        | write  | * 1/1               | * 1/1/1               | * -32600 1/1/1        | * 1/1
no request        | local  | a -32600 1/0        | a -32600 1/0/0        | a -32600 1/0/0        | a -32600 1/0

bad parameters    | read   | a -32602 1/0        | a -32602 1/0/0        | a -32602 1/0/0        | a -32602 1/0
bad parameters    | latest | a -32602 1/0        | a -32602 1/0/0        | a -32602 1/0/0        | a -32602 1/0
bad parameters    | write  | * 1/1               | * 1/1/1               | * -32602 1/1/1        | * -32602 1/0
bad parameters    | local  | a -32602 1/0        | a -32602 1/0/0        | a -32602 1/0/0        | a -32602 1/0

gateway error     | read   | b 1/1               | b 1/1/0               | c -32000 1/1/1        | z 1/1
gateway error     | latest | b 1/1               | b 1/1/0               | c -32000 1/1/1        | z 1/1
gateway error     | write  | * 1/1               | * 1/1/1               | * -32000 1/1/1        | * 1/1
gateway error     | local  | a -32000 1/0        | a -32000 1/0/0        | a -32000 1/0/0        | a -32000 1/0

internal error    | read   | b 1/1               | b 1/1/0               | c -32603 1/1/1        | z 1/1
internal error    | latest | b 1/1               | b 1/1/0               | c -32603 1/1/1        | z 1/1
internal error    | write  | * 1/1               | * 1/1/1               | * -32603 1/1/1        | * 1/1
internal error    | local  | a -32603 1/0        | a -32603 1/0/0        | a -32603 1/0/0        | a -32603 1/0
`
