import { expect, test } from "vitest"
import { completeSlash, readSlash, splitWords, type Slash } from "./slash.ts"

test.each<[string, Slash | undefined]>([
  ["hello", undefined],
  [" /etc/hosts is wrong", undefined],
  ["/tools", { name: "tools", words: [] }],
  ["/why read_file path=a.txt", { name: "why", words: ["read_file", "path=a.txt"] }],
  ["/tolls", { problem: "/tolls is not a command. Did you mean /tools? To say it to the agent, begin with a space." }],
  ["/xyzzy", { problem: "/xyzzy is not a command. /help shows all. To say it to the agent, begin with a space." }],
])("'%s'", (line, read) => {
  expect(readSlash(line)).toEqual(read)
})

test.each([
  [`a "b c" d='e f'`, ["a", "b c", "d=e f"]],
  [`write_file {"path": "a b", "content": "x"}`, ["write_file", `{"path": "a b", "content": "x"}`]],
  ["  ", []],
  [`it's`, ["it", "'", "s"]],
])("%s is split into words", (text, words) => {
  expect(splitWords(text)).toEqual(words)
})

test.each([
  ["/to", "/tools "],
  ["/", undefined],
  ["/a", undefined],
  ["/tools x", undefined],
])("tab after '%s'", (line, completed) => {
  expect(completeSlash(line)).toBe(completed)
})
