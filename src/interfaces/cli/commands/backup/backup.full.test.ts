import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { PendingItem } from "../../../../core/approval.ts"
import { outputOf, makeCli } from "../../testing.ts"

const setEnv = ["call", "set_env", "key=A", "value=1"]

test("an approval that was used after a backup cannot be used again when the backup is restored", async () => {
  const { cwd, run } = makeCli()
  const folder = join(cwd, "..", "copy")
  expect((await run(...setEnv, "--wait", "0")).code).toBe(4)
  const waiting = async () => JSON.parse((await run("approvals", "list", "--json")).stdout) as PendingItem[]
  const [{ callId } = { callId: "" }] = await waiting()
  expect((await run("approvals", "approve", callId)).code).toBe(0)
  expect((await run("backup", folder)).code).toBe(0)
  expect((await run(...setEnv)).code).toBe(0)
  expect((await run("restore", folder, "--replace")).code).toBe(0)

  expect((await run(...setEnv, "--wait", "0")).code).toBe(4)
  expect(await waiting()).toMatchObject([{ callId, revision: 2, votes: [] }])
  expect((await run("approvals", "approve", callId)).stderr).toContain(`'qm approvals approve ${callId} --revision 2'`)
  expect((await run(...setEnv, "--wait", "0")).code).toBe(4)
  expect((await run("approvals", "approve", callId, "--revision", "2")).code).toBe(0)
  expect((await run(...setEnv)).code).toBe(0)
  expect((await run("audit", "verify")).code).toBe(0)
})

test("a conversation that waited when the backup was made stands still until somebody resumes it", async () => {
  const { cwd, run, write } = makeCli()
  const folder = join(cwd, "..", "copy")
  write("quartermaster.yml", "models: { demo: { provider: scripted, script: demo.yml } }\n")
  write("demo.yml", "- call: { write_file: { path: a.txt, content: x } }\n- say: Written.\n")
  await run("trust", "--yes")
  const waiting = await run("run", "Write it.", "--json")
  expect(waiting.code).toBe(4)
  const { id } = JSON.parse(waiting.stdout.trim().split("\n").at(-1)!) as { id: string }
  expect((await run("backup", folder)).code).toBe(0)
  const restored = await run("restore", folder, "--replace")
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("until you resume them: 1.") })

  const [item] = JSON.parse((await run("approvals", "list", "--json")).stdout) as PendingItem[]
  expect((await run("approvals", "approve", item!.callId)).code).toBe(0)
  expect(existsSync(join(cwd, "a.txt"))).toBe(false)
  expect(await run("run", "--resume", id)).toMatchObject({ code: 0, stdout: "Written.\n" })
  expect(existsSync(join(cwd, "a.txt"))).toBe(true)
})

test("a store is not replaced while a call runs; the message names its process", async () => {
  const { cwd, run, start } = makeCli()
  const folder = join(cwd, "..", "copy")
  expect((await run("call", "base64_encode", "text=a")).code).toBe(0)
  expect((await run("backup", folder)).code).toBe(0)
  const sleeping = start("call", "sleep", "duration=60")
  const end = outputOf(sleeping, "")
  const records = async () =>
    (JSON.parse((await run("audit", "verify", "--json")).stdout) as { records: number }).records
  while ((await records()) < 3);
  const refused = await run("restore", folder, "--replace")
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`Process ${sleeping.pid} still writes to `)
  sleeping.kill("SIGINT")
  await end
  expect((await run("restore", folder, "--replace")).code).toBe(0)
})
