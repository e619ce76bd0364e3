import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "./config/schema.ts"
import { openTestApp, temporaryFolder } from "./testing/test-app.ts"

interface Case {
  kind: "command" | "path" | "url"
  input: string
  expect: "allow" | "ask" | "deny"
  why: string
  op?: "read" | "write"
  when?: "run"
}

const files = ["commands", "paths", "urls"].map((name) => `${name}.jsonl`)
const cases = files.flatMap((file) =>
  readFileSync(join(import.meta.dirname, "guards/testing/cases", file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Case),
)

/** Returns a function that explains the verdict for a case. */
async function judge() {
  const { app, workspace } = await openCaseApp()
  const placed = (input: string) => (input.startsWith("/ws/") ? workspace + input.slice(3) : input)
  return ({ kind, input, op }: Case) => {
    if (kind === "command") return app.why({ agentId: "operator", tool: "run_command", input: { command: input } })
    if (kind === "url") return app.why({ agentId: "operator", tool: "web_fetch", input: { url: input } })
    const path = placed(input)
    return op === "write"
      ? app.why({ agentId: "operator", tool: "write_file", input: { path, content: "x" } })
      : app.why({ agentId: "operator", tool: "read_file", input: { path } })
  }
}

type RuleInput = NonNullable<Config["rules"]>[number]
const allowWrites: RuleInput[] = ["write_file", "move_file", "run_command"].map((allow) => ({ allow, touching: "write:**", because: "Writing is free." })) // prettier-ignore

/** An app with the configuration that the cases are written for. */
async function openCaseApp(allowedPaths: string[] = ["."], allowed: RuleInput[] = allowWrites) {
  const above = temporaryFolder()
  const workspace = join(above, "ws")
  for (const folder of ["src", "newdir", "secrets", "packages/api", "..foo"])
    mkdirSync(join(workspace, folder), { recursive: true })
  for (const file of ["src/a.ts", "..foo/bar.txt", "secrets/s", "f", "packages/api/.env"])
    writeFileSync(join(workspace, file), "x\n")
  mkdirSync(join(above, "ws-evil"))
  writeFileSync(join(above, "ws-evil/x"), "evil")
  symlinkSync(join(above, "not-there-yet"), join(workspace, "dangling.txt"))
  symlinkSync(above, join(workspace, "newdir/link2"))
  symlinkSync("../../..", join(workspace, "src/up"))
  const app = await openTestApp(
    {
      tools: {
        shell: {
          mode: "ask",
          allow: [
            ..."ls cat echo pwd head tail wc grep true cd printf test find sort sed rg file man tar awk".split(" "),
            ..."status log diff show".split(" ").map((word) => `git ${word}`),
            "npm test",
          ],
          deny: "rm curl wget sudo dd mkfs dig docker".split(" "),
        },
        hosts: { allow: ["docs.example.com", "*.trusted.example", "github.com"] },
        allowedPaths,
      },
      rules: [{ deny: "*", touching: "file:secrets/**", because: "Secrets stay where they are." }, ...allowed],
    },
    { workspace },
  )
  return { app, workspace }
}

const strictness = ["allow", "ask", "deny"]

test("no case is judged looser than expected, and harmless cases are allowed", async () => {
  const why = await judge()
  const wrong: string[] = []
  for (const each of cases) {
    // The address of a name is only known when it is connected to.
    if (each.when === "run") continue
    const { verdict, reasons } = await why(each)
    const isRight =
      each.expect === "allow" ? verdict === "allow" : strictness.indexOf(verdict) >= strictness.indexOf(each.expect)
    if (!isRight)
      wrong.push(
        `${each.kind} ${JSON.stringify(each.input).slice(0, 90)} is ${verdict}, must be ${each.expect}: ${reasons[0]?.sentence ?? ""}`,
      )
  }
  expect(wrong).toEqual([])
})

test.each([
  ["grep -rn TODO src", "allow", "links in the folder are not followed"],
  ["rg TODO src", "allow", "no file in there is protected"],
  ["rg TODO packages", "ask", "an ignore file could include .env again"],
  ["grep -rn TODO packages", "ask", ".env is in there, two folders down"],
  ["rg --hidden TODO packages", "ask", ".env is in there, two folders down"],
  ["rg TODO -g .env packages", "ask", "a glob brings hidden files back"],
  ["grep -rn TODO .", "deny", "a rule denies what is in there"],
  ["cat secrets/s", "deny", "a rule denies it"],
  ["cat packages/api/.env", "ask", "it is an .env file"],
])("the verdict for the command '%s' is %s: %s", async (input, verdict, because) => {
  const why = await judge()
  expect(await why({ kind: "command", input, expect: "ask", why: because })).toMatchObject({ verdict })
})

test("searches and listings leave out files that a rule denies", async () => {
  const { app, workspace } = await openCaseApp()
  writeFileSync(join(workspace, "secrets/code.ts"), "export function hidden() {}\n")
  writeFileSync(join(workspace, "secrets/s"), "the secret word\n")
  const call = async (tool: string, input: unknown) =>
    JSON.stringify((await app.call({ agentId: "operator", tool, input })).result ?? null)
  expect(await call("search_files", { pattern: "secret word" })).toContain('"total":0')
  expect(await call("search_files", { pattern: "secret word", output: "files", hidden: true })).toContain('"total":0')
  expect(await call("find_files", { pattern: "**/*" })).not.toContain("secrets/")
  expect(await call("list_files", { recursive: true })).not.toContain("secrets/s")
  expect(await call("code_query", { query: "hidden" })).toContain('"total":0')
  for (const [tool, input] of [
    ["search_files", { pattern: "x", path: "secrets" }],
    ["list_files", { path: "secrets" }],
    ["code_query", { query: "hidden", path: "secrets" }],
  ] as const) {
    expect(await app.call({ agentId: "operator", tool, input })).toMatchObject({ code: "permission_denied" })
  }
})

test("moving or deleting a folder is judged by everything in it", async () => {
  const { app, workspace } = await openCaseApp()
  mkdirSync(join(workspace, "app/.git"), { recursive: true })
  mkdirSync(join(workspace, "lib/inner"), { recursive: true })
  writeFileSync(join(workspace, "lib/inner/package.json"), "{}")
  const verdict = async (tool: string, input: unknown) => (await app.why({ agentId: "operator", tool, input })).verdict
  expect(await verdict("move_file", { from: "secrets", to: "open" })).toBe("deny")
  expect(await verdict("delete_file", { path: "app", recursive: true })).toBe("deny")
  expect(await verdict("move_file", { from: "lib", to: "library" })).toBe("ask")
  expect(await verdict("move_file", { from: "..foo", to: "foo" })).toBe("allow")
})

test("a redirect needs an allow rule that covers the file, besides the line that allows the program", async () => {
  const verdicts = async (touching: string | string[] | undefined, ...commands: string[]) => {
    const rules: RuleInput[] = touching === undefined ? [] : [{ allow: "run_command", touching, because: "It may." }]
    const { app } = await openCaseApp(["."], rules)
    const look = (command: string) => app.why({ agentId: "operator", tool: "run_command", input: { command } })
    return Promise.all(commands.map(async (command) => (await look(command)).verdict))
  }
  const [into, beside, nowhere, unlisted] = ["echo x > src/new.ts", "echo x > new.ts", "echo x > /dev/null", "made x > src/a"] // prettier-ignore
  expect(await verdicts(undefined, into, beside, nowhere, unlisted)).toEqual(["ask", "ask", "allow", "ask"])
  expect(await verdicts("write:src/**", into, beside, nowhere, unlisted)).toEqual(["allow", "ask", "allow", "ask"])
  expect(await verdicts("command:*", into, unlisted)).toEqual(["ask", "ask"])
  expect(await verdicts(["command:made *", "write:src/**"], into, beside, unlisted)).toEqual(["allow", "ask", "allow"])
})

test("rules apply to the folder that a command runs in", async () => {
  const { app } = await openCaseApp()
  const input = { command: "ls", cwd: "secrets" }
  expect(await app.why({ agentId: "operator", tool: "run_command", input })).toMatchObject({ verdict: "deny" })
})
