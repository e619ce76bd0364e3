import { expect, test } from "vitest"
import { foreignSetting, readGitConfig } from "./git-config.ts"

const settingsOf = (text: string) => {
  const settings = readGitConfig(text)
  return settings?.map(({ key, value }) => `${key}=${value}`)
}

test("a configuration is parsed like git does", () => {
  const text = [
    "\uFEFF# a comment",
    "[Core] FileMode = true ; said behind it",
    "\tbare",
    "\tlong = a\\\n  b",
    '[remote "or\\"ig]in"] ; x',
    '\turl = "https://example.com/#a" \\"b\\" # c\r',
    "[a.b]\nc=1",
    '[d "E"]f = ";" g',
    "",
  ].join("\n")
  expect(settingsOf(text)).toEqual([
    "core.filemode=true",
    "core.bare=true",
    "core.long=a  b",
    'remote.*.url=https://example.com/#a "b"',
    "a.b.c=1",
    "d.*.f=; g",
  ])
})

test.each([
  "x = 1",
  "[core",
  "[core] x y",
  "[core] 1x = 2",
  "[co re]",
  '[core "a]',
  '[core "a" ]',
  '[core "a\n"]',
  '[core]\nx = "a',
  "[core]\nx = a\\q",
  "[core]\nx = a\\",
  "[core]\nx # comment",
  "[core]\n\u0000x = 1",
  "[core]\nx = 1\ry = 2",
  "[core]\n\u00a0x = 1",
])("%j is not parsed", (text) => {
  expect(readGitConfig(text)).toBeUndefined()
})

test.each([
  ['[remote "o"]\nurl = git@example.com:a/b.git\nfetch = +refs/heads/*:refs/remotes/o/*', undefined],
  ['[branch "main"]\nremote = o\nmerge = refs/heads/main\nvscode-merge-base = o/main', undefined],
  ["[user]\nname = Ann\nemail = ann@example.com\n[pull]\nrebase = true", undefined],
  ["[core]\nhooksPath = x", "core.hookspath"],
  ["[core]\npager = x", "core.pager"],
  ["[CORE]\nFSMONITOR = x", "core.fsmonitor"],
  ['[core "x"]\nbare = true', "core.*.bare"],
  ["[remote.o]\nurl = x", "remote.o.url"],
  ['[remote "o"]\nurl = ext::sh -c id', "remote.*.url"],
  ['[remote "o"]\nurl = ext":":sh -c id', "remote.*.url"],
  ['[branch "main"]\nremote = "ext::x"', "branch.*.remote"],
  ['[remote "o"]\nuploadpack = x', "remote.*.uploadpack"],
  ['[includeIf "gitdir:/"]\npath = x', "includeif.*.path"],
  ['[diff "x"]\ntextconv = x', "diff.*.textconv"],
  ['[filter "x"]\nclean = x', "filter.*.clean"],
  ["[alias]\nlog = !id", "alias.log"],
  ["[extensions]\npartialClone = o", "extensions.partialclone"],
])("%j has the foreign setting %s", (text, expected) => {
  expect(foreignSetting(readGitConfig(text)!)).toBe(expected)
})
