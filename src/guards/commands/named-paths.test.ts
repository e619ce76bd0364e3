import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { checkNamedPaths } from "./named-paths.ts"
import { createPathPolicy } from "../paths/path-policy.ts"

/** A workspace with our data in it, a folder of a server beside it, and links to both. */
function place() {
  const top = realpathSync(temporaryFolder())
  const workspace = join(top, "work")
  const data = join(workspace, "data")
  const server = join(top, "server")
  for (const folder of [data, join(workspace, ".git"), join(workspace, "my folder", ".git"), server]) mkdirSync(folder, { recursive: true }) // prettier-ignore
  writeFileSync(join(data, "record.key"), "secret")
  writeFileSync(join(workspace, "HEAD.txt"), "")
  symlinkSync(data, join(workspace, "shortcut"))
  symlinkSync(join(workspace, ".git"), join(server, "repository"))
  const policy = createPathPolicy({ workspace, privatePaths: [data], home: top })
  return { top, workspace, data, server, policy }
}

function judge(input: unknown, onlyReads = false) {
  const { top, server, policy } = place()
  const findings = checkNamedPaths(replaceIn(input, policy.workspace), { folders: [server], onlyReads }, policy, top)
  return findings.map(({ verdict }) => verdict)
}

function strictest(verdicts: readonly string[]) {
  return ["deny", "ask"].find((verdict) => verdicts.includes(verdict))
}

/** Writes the workspace of the test in place of WS. */
function replaceIn(input: unknown, workspace: string): unknown {
  const url = pathToFileURL(workspace).href
  return JSON.parse(JSON.stringify(input).replaceAll("URL", url).replaceAll("WS", workspace)) as unknown
}

const ours: unknown[] = [
  { path: "data/record.key" },
  { path: "WS/data/record.key" },
  { path: "../work/data" },
  { path: "~/work/data/record.key" },
  { path: "shortcut/record.key" },
  { path: "DATA/record.key" },
  { path: " data/record.key\n" },
  { path: "data%2Frecord.key" },
  { uri: "URL/data/record.key" },
  { uri: "URL/%64ata/record.key" },
  { uri: "file:data/record.key" },
  { edits: [{ deep: { files: ["a.txt", "./data"] } }] },
  { files: { "data/record.key": "content" } },
  { command: "cat data/record.key" },
  { command: "sort<data/record.key" },
  { cmd: ["python", "-c", "open('data/record.key')"] },
  { command: { line: "echo 'x' && cat 'data/record.key'" } },
]
test.each(ours)("our own data is refused, however it is named: %j", (input) => {
  expect(judge(input)).toContain("deny")
  expect(judge(input, true)).toContain("deny")
})

test.each([
  [{ path: ".git/config" }, "deny", "ask"],
  [{ path: "my folder/.git/hooks/pre-commit" }, "deny", "ask"],
  [{ path: "repository/hooks/pre-commit" }, "deny", "ask"],
  [{ path: "quartermaster.yml" }, "deny", "ask"],
  [{ path: "deploy/id_rsa" }, "deny", "ask"],
  [{ command: "git add .vscode/settings.json" }, "deny", "ask"],
  [{ path: ".env" }, "ask", "ask"],
  [{ path: "package.json" }, "ask", undefined],
  [{ path: "WS/.." }, "ask", undefined],
])("%j of a tool that is not trusted to only read: %s; of one that is: %s", (input, untrusted, trusted) => {
  expect(strictest(judge(input))).toBe(untrusted)
  expect(strictest(judge(input, true))).toBe(trusted)
})

test.each([
  { text: "The message is about .git/config and .env" },
  { text: ".git/config is broken, see data/record.key" },
  { text: "Please do not read .env" },
  { text: "first line\n.git/config" },
  { text: "run `cat data/record.key`" },
  { url: "https://example.com/repo/.git/config" },
  { revision: "HEAD", key: "login.key", name: "credentials", file: "HEAD.txt" },
  { excludePatterns: [".git", ".env"], ignore: ".git" },
  { path: "src/main.ts", other: "." },
  { command: "npm test" },
])("prose and ordinary texts pass: %j", (input) => {
  expect(judge(input)).toEqual([])
})

test("an input with too many texts is asked about as a whole", () => {
  const many = Array.from({ length: 5001 }, (_, at) => `t${at}`)
  expect(judge({ many })).toEqual(["ask"])
  expect(judge({ many: many.slice(0, 4000) })).toEqual([])
})
