// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

// Command decoder reads JSON-RPC requests as nodes in Go do: by encoding/json, into structs. Each line of its input is a
// request or a batch in base64; each line of its output is a list of what it has read, null for what it cannot read.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
)

type request struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

// Members that some method has in an object among its params.
type object struct {
	To          string `json:"to,omitempty"`
	Data        string `json:"data,omitempty"`
	Address     string `json:"address,omitempty"`
	BlockNumber string `json:"blockNumber,omitempty"`
	BlockHash   string `json:"blockHash,omitempty"`
	FromBlock   string `json:"fromBlock,omitempty"`
	ToBlock     string `json:"toBlock,omitempty"`
}

type reading struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		body, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			panic(err)
		}
		if err := out.Encode(readAll(bytes.TrimSpace(body))); err != nil {
			panic(err)
		}
	}
}

func readAll(body []byte) []*reading {
	items := []json.RawMessage{body}
	if bytes.HasPrefix(body, []byte("[")) && json.Unmarshal(body, &items) != nil {
		return []*reading{nil}
	}
	readings := []*reading{}
	for _, item := range items {
		readings = append(readings, read(item))
	}
	return readings
}

func read(item []byte) *reading {
	var asked request
	if json.Unmarshal(item, &asked) != nil {
		return nil
	}
	params := []any{}
	for _, raw := range asked.Params {
		var value any
		if bytes.HasPrefix(raw, []byte("{")) {
			value = &object{}
		}
		if json.Unmarshal(raw, &value) != nil {
			return nil
		}
		params = append(params, value)
	}
	return &reading{asked.ID, asked.Method, params}
}
