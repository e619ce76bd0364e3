import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"

const allowed = [
  { allow: "write_file", because: "A test writes." },
  { allow: "edit_file", because: "A test writes." },
  { allow: "delete_file", because: "A test deletes." },
  { allow: "run_command", because: "A test runs commands." },
]

const gitIn = (folder: string) => (words: string) =>
  execFileSync("git", words.split(" "), { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })

/** An app in a workspace with git, whose edits run unasked, and the cards of what it asks about. */
async function openProject(prepare?: (folder: string) => void) {
  const workspace = temporaryFolder()
  const git = gitIn(workspace)
  git("init -q")
  writeFileSync(join(workspace, "a.txt"), "one\n")
  writeFileSync(join(workspace, "b.txt"), "two\n")
  writeFileSync(join(workspace, ".gitignore"), "ignored\n")
  git("add -A")
  git("-c user.name=t -c user.email=t@example.com commit -qm first")
  prepare?.(workspace)
  const cards: unknown[] = []
  const approvals = callbackAdapter({ onExecution: ({ request }) => (cards.push(request.previewData), true) })
  const app = await openTestApp({ rules: allowed }, { workspace, approvals })
  const call = (tool: string, input: object) => app.call({ agentId: "operator", tool, input })
  const undo = (callId: string) => call("undo_call", { call: callId })
  const read = (name: string) => readFileSync(join(workspace, name), "utf8")
  const write = (name: string, text: string) => writeFileSync(join(workspace, name), text)
  return { app, dir: app.dir, workspace, cards, git, call, undo, read, write }
}

test("what a command changed, made and deleted is put back, after a card with the difference", async () => {
  const { app, call, undo, read, workspace, cards, git } = await openProject()
  const before = git("status --porcelain")
  const ran = await call("run_command", { command: "echo three >> a.txt; rm b.txt; mkdir -p d; echo new > d/c.txt" })
  expect(ran).toMatchObject({ success: true })
  expect(
    (await app.audit.show(ran.callId)).map(({ kind, ...entry }) =>
      kind === "note" ? (entry as { text: string }).text : kind,
    ),
  ).toEqual([
    "start",
    `Changed 3 files: a.txt, b.txt, d/c.txt. This can be undone for a week: qm undo ${ran.callId}`,
    "end",
  ])
  expect(cards).toEqual([])
  expect(await undo(ran.callId)).toMatchObject({
    success: true,
    result: { restored: ["a.txt", "b.txt"], removed: ["d/c.txt"] },
  })
  expect([read("a.txt"), read("b.txt"), existsSync(join(workspace, "d", "c.txt"))]).toEqual(["one\n", "two\n", false])
  expect(git("status --porcelain")).toBe(before)
  expect(cards).toMatchObject([
    {
      kind: "diff",
      files: [
        { path: "a.txt", diff: expect.stringContaining("-three\n"), removed: 1 },
        { path: "b.txt" },
        { path: "d/c.txt" },
      ],
    },
  ])
})

test("an edit is undone alone, though another was made at the same time", async () => {
  const { app, undo, read } = await openProject()
  const edit = (path: string, content: string) => ({
    agentId: "operator",
    tool: "write_file",
    input: { path, content },
  })
  const [first] = await app.callMany([edit("a.txt", "first\n"), edit("b.txt", "second\n")])
  expect(first).toMatchObject({ success: true })
  expect(await undo(first?.callId ?? "")).toMatchObject({ success: true })
  expect([read("a.txt"), read("b.txt")]).toEqual(["one\n", "second\n"])
})

test("files changed since are named, and nothing is put back", async () => {
  const { call, undo, read, write, cards } = await openProject()
  const { callId } = await call("run_command", { command: "echo x > a.txt; echo y > b.txt" })
  write("b.txt", "somebody's work\n")
  const refused = await undo(callId)
  expect(refused).toMatchObject({ success: false, metadata: { toolCode: "changed_since" } })
  expect(refused.error).toContain("b.txt")
  expect(refused.error).not.toContain("a.txt")
  expect([read("a.txt"), read("b.txt")]).toEqual(["x\n", "somebody's work\n"])
  expect(cards).toMatchObject([{ kind: "text", text: expect.stringContaining("changed since: b.txt") }])
})

test("nothing of the project's git runs or changes: its filters, hooks and settings count for nothing", async () => {
  const { call, undo, workspace, read, dir } = await openProject((folder) => {
    const git = gitIn(folder)
    const trap = join(folder, "trap.sh")
    writeFileSync(trap, `#!/bin/sh\ntouch "${folder}/trapped"\ncat\n`)
    chmodSync(trap, 0o755)
    git(`config filter.x.clean ${trap}`)
    git(`config filter.x.smudge ${trap}`)
    git(`config core.fsmonitor ${trap}`)
    git(`config core.hooksPath ${folder}`)
    writeFileSync(join(folder, "post-index-change"), `#!/bin/sh\ntouch "${folder}/trapped"\n`, { mode: 0o755 })
    writeFileSync(join(folder, ".gitattributes"), "*.txt filter=x text eol=crlf ident\n")
    writeFileSync(join(folder, "a.txt"), "$Id$ one\r\n")
  })
  const index = statSync(join(workspace, ".git", "index")).mtimeMs
  const inGit = readdirSync(join(workspace, ".git"), { recursive: true }).length
  const { callId } = await call("run_command", { command: "printf changed > a.txt" })
  expect(await undo(callId)).toMatchObject({ success: true })
  expect(read("a.txt")).toBe("$Id$ one\r\n")
  expect(existsSync(join(workspace, "trapped"))).toBe(false)
  expect(statSync(join(workspace, ".git", "index")).mtimeMs).toBe(index)
  expect(readdirSync(join(workspace, ".git"), { recursive: true })).toHaveLength(inGit)
  expect(existsSync(join(dir, "undo"))).toBe(true)
})

test("secrets, ignored files and large ones are in no snapshot", async () => {
  const { app, call, undo, write, dir } = await openProject((folder) => {
    writeFileSync(join(folder, ".env"), "TOKEN=secret-of-the-env\n")
    writeFileSync(join(folder, "ignored"), "ignored content\n")
    writeFileSync(join(folder, "large"), Buffer.alloc(10 * 1024 * 1024 + 1))
  })
  const { callId } = await call("run_command", { command: "echo x > a.txt; echo y > ignored; echo z > large" })
  expect(await undo(callId)).toMatchObject({ success: true, result: { restored: ["a.txt"], removed: ["large"] } })
  const [repository = ""] = readdirSync(join(dir, "undo")).filter((name) => name.endsWith(".git"))
  const all = execFileSync("git", ["cat-file", "--batch-all-objects", "--batch"], {
    env: { ...process.env, GIT_DIR: join(dir, "undo", repository) },
    maxBuffer: 1e9,
  }).toString("latin1")
  expect(all).not.toContain("secret-of-the-env")
  expect(all).not.toContain("ignored content")
  write("a.txt", "")
  expect(app).toBeDefined()
})

test.each([
  [
    "a call that a person approved",
    async ({ call }: Project) => (await call("move_file", { from: "a.txt", to: "c.txt" })).callId,
  ],
  ["a call that changed nothing", async ({ call }: Project) => (await call("run_command", { command: "true" })).callId],
  ["an id that is none", () => Promise.resolve("../../etc/passwd")],
] as const)("there is nothing to undo for %s", async (_, make) => {
  const project = await openProject()
  const id = await make(project)
  expect(await project.undo(id)).toMatchObject({ success: false, error: expect.stringMatching(/nothing to undo/) })
})

test("a workspace without git is as fast as before, and says so when something is to be undone", async () => {
  const { call, undo, workspace, dir } = await openProject((folder) =>
    rmSync(join(folder, ".git"), { recursive: true }),
  )
  mkdirSync(join(workspace, "d"))
  const { callId } = await call("run_command", { command: "echo x > a.txt" })
  expect(existsSync(join(dir, "undo"))).toBe(false)
  expect(await undo(callId)).toMatchObject({ success: false, error: expect.stringMatching(/with git/) })
})

type Project = Awaited<ReturnType<typeof openProject>>
