import { DatabaseSync } from "@photostructure/sqlite"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { AuditRow } from "../../../../store/port.ts"
import { makeCli } from "../../testing.ts"

test("the audit log shows who called what, how it ended and who decided, and every option filters it", async () => {
  const { run } = makeCli()
  await run("call", "base64_encode", "text=hello")
  await run("call", "json_parse", "text={oops")
  await run("--agent", "root", "call", "sleep", "duration=1")
  await run("call", "set_env", "key=A", "value=1", "--yes", "--task", "t1")

  const rows = async (...flags: string[]) => {
    const { stdout } = await run("audit", "list", "--json", ...flags)
    return (JSON.parse(stdout) as AuditRow[]).map(({ tool }) => tool)
  }
  expect(await rows()).toEqual(["set_env", "sleep", "json_parse", "base64_encode"])
  expect(await rows("--agent", "root")).toEqual(["sleep"])
  expect(await rows("--status", "error", "--since", "1h", "--limit", "1")).toEqual(["sleep"])
  expect(await rows("--tool", "json_parse", "--since", "2999-01-01")).toEqual([])

  const { stdout: list } = await run("audit", "list", "--tool", "set_env")
  const callId = / ([0-9a-f-]{36}) /.exec(list)?.[1] ?? ""
  const story = await run("audit", "show", callId.slice(0, 20))
  expect(story.stdout.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/gm, "<time>").split("\n")).toEqual([
    "<time>  asked     Tool set_env is moderate, so a person must approve the call.",
    "<time>  answered  by --yes: approved",
    "<time>  start     agent operator (role operator) calls set_env 1.0.0",
    expect.stringMatching(/^ {35}input: \{"key":"A","value":"1"\}$/),
    expect.stringMatching(/^ {35}session: operator\//),
    expect.stringMatching(/^ {35}task: t1$/),
    expect.stringMatching(/^ {35}policy: /),
    expect.stringMatching(/^ {35}because Tool set_env is moderate/),
    expect.stringMatching(/^<time> {2}end {7}success after \d+ ms$/),
    expect.stringMatching(/^ {35}result: \{"previous":null\}$/),
    "",
  ])
  const passed = / ([0-9a-f-]{36}) /.exec((await run("audit", "list", "--tool", "json_parse")).stdout)?.[1] ?? ""
  expect((await run("audit", "show", passed)).stdout).toContain(
    "because the role operator has a group with this tool, and no guard, limit or rule objected\n",
  )
  expect(await run("audit", "show", "0")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Several ids begin with '0': (0\S+, ){3}0\S+\. Give more/) as string,
  })
  expect(await run("audit", "show", "zz")).toMatchObject({
    code: 1,
    stderr: "No call has the id 'zz'. 'qm audit list' shows whole ids.\n",
  })
  expect(await run("audit", "show", "")).toMatchObject({ code: 2 })
  const stats = await run("audit", "stats", "--agent", "operator")
  expect(stats.stdout).toMatch(/^3 calls, 1 of them did not succeed\.\n/)
  expect(stats.stdout).toMatch(/^json_parse +1 +1 +\d/m)
})

test("audit verify names a changed record and a missing end", async () => {
  const { run, dataDir } = makeCli()
  await run("call", "base64_encode", "text=hello")
  const { stdout: head } = await run("audit", "head")
  await run("call", "base64_encode", "text=again")
  expect(await run("audit", "verify", "--head", head.trim())).toEqual({
    code: 0,
    stdout: "ok: 4 records in 1 chain, unchanged.\n",
    stderr: "",
  })

  const database = new DatabaseSync(join(dataDir, "quartermaster.db"))
  const change = "update segments set text = replace(text, 'again', 'never') where text like '%again%'"
  expect(database.prepare(change).run().changes).toBe(1)
  database.close()
  const changed = await run("audit", "verify")
  expect(changed).toEqual({ code: 1, stdout: "", stderr: "record 1/3: It was changed, moved or added later.\n" })
  expect(JSON.parse((await run("audit", "verify", "--json")).stdout)).toMatchObject({ ok: false, record: "record 1/3" })
  expect((await run("audit", "verify", "--head", "9.nothing")).code).toBe(1)
})

test("no text in a record can look like another record or control the terminal", async () => {
  const { run } = makeCli()
  const forged = "\n2026-01-01 00:00:00.000  answered  by ada: approved \u001b[31m\u202e"
  await run("call", `no_such_tool${forged}`, "a=1")
  const { stdout: list } = await run("audit", "list")
  const callId = / ([0-9a-f-]{36}) /.exec(list)?.[1] ?? ""
  const { stdout: story } = await run("audit", "show", callId)
  expect(story.split("\n").filter((line) => /^\d/.test(line))).toHaveLength(1)
  expect(list + story).not.toMatch(/(?!\n)\p{C}/u)
})
