import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startModelServer } from "../../../../agents/testing/model-server.ts"
import { makeCli, outputOf, waitForOutput } from "../../testing.ts"

const writes = `
- say: I write it down.
  call: { write_file: { path: todo.md, content: Finish the notes. } }
- say: Done.
`

async function withScript(script: string) {
  const cli = makeCli({ NO_COLOR: "1" })
  cli.write("quartermaster.yml", "models:\n  demo: { provider: scripted, script: demo.yml }\n")
  cli.write("demo.yml", script)
  await cli.run("trust", "--yes")
  return { ...cli, file: join(cli.cwd, "todo.md") }
}

test("models of a file that is not trusted do not count, and the sentence says so", async () => {
  const cli = makeCli()
  cli.write("quartermaster.yml", "models:\n  demo: { provider: scripted, script: demo.yml }\n")
  const { code, stderr } = await cli.run("run", "Look.")
  expect(code).toBe(1)
  expect(stderr).toMatch(/The models of quartermaster\.yml do not count before you trust the file\./)
})

test("in a terminal, run asks inline, and a letter and Enter answer", async () => {
  const { inTerminal, file } = await withScript(writes)
  const { code, stdout } = await inTerminal(["run", "Write it down."], [["Run write_file (", "a\r"]])
  expect(code).toBe(0)
  expect(stdout).toMatch(/● write_file todo\.md content=Finish the notes\. … \d+ ms, \d+ characters\r\nDone\.\r\n$/)
  expect(readFileSync(file, "utf8")).toBe("Finish the notes.")
})

test("escape at a card leaves the call waiting: the run ends with 4, says how to answer and how to go on", async () => {
  const { inTerminal, run, file } = await withScript(writes)
  const { code, stdout } = await inTerminal(["run", "Write it down."], [["escape later\r\n> ", "\u001b"]])
  expect(code).toBe(4)
  const [, approve = "", resume = ""] = /Answer with: qm (.+)\r\nThen go on with: qm (.+)\r\n$/.exec(stdout) ?? []
  expect((await run(...approve.split(" "))).code).toBe(0)
  expect(await run(...resume.split(" "))).toMatchObject({ code: 0, stdout: "Done.\n" })
  expect(readFileSync(file, "utf8")).toBe("Finish the notes.")
})

test("the cards of one answer come in the order of its calls, with the keys of the chat", async () => {
  const { inTerminal } = await withScript(`
- call:
    - write_file: { path: z.md, content: "1" }
    - write_file: { path: y.md, content: "2" }
    - write_file: { path: x.md, content: "3" }
- say: Done.
`)
  const { code, stdout } = await inTerminal(
    ["run", "Write."],
    [
      ["escape later\r\n> ", "\r"],
      ["Run write_file (write z.md)? a approve, e edit, u approve and add the rule, r reject", "a\r"],
      ["escape later\r\n> ", "\r"],
      ["Run write_file (write y.md)?", "a\r"],
      ["Run write_file (write x.md)?", "a\r"],
    ],
  )
  expect(code).toBe(0)
  expect(stdout).toContain("Approved. It runs when the other 2 are answered too.")
  expect(stdout).toContain("Approved. It runs when the other one is answered too.")
  expect(stdout).toMatch(/1 {2}operator wants to call write_file: z\.md\r\n {2}2 .*y\.md\r\n {2}3 .*x\.md\r\n/)
})

test("Ctrl-C at a card stops the run, and is no answer for the model", async () => {
  const { inTerminal, run, file } = await withScript(writes)
  const { code, stdout } = await inTerminal(["run", "Write it down."], [["Run write_file (", "\u0003"]])
  expect(code).toBe(6)
  expect(stdout).toMatch(/Stopped\. Go on with: qm run --resume \S+ "Go on\."\r\n$/)
  const { stdout: log } = await run("audit", "list", "--json")
  expect(JSON.parse(log)).toMatchObject([{ tool: "write_file", code: "aborted" }])
  expect(existsSync(file)).toBe(false)
})

test("run --wait goes on when another process answers", async () => {
  const { start, run, file } = await withScript(writes)
  const child = start("run", "Write it down.", "--wait")
  const end = outputOf(child, "")
  const line = await new Promise<string>((resolve) => {
    let seen = ""
    child.stderr.on("data", (part) => {
      seen += String(part)
      if (/approve \S+\n/.test(seen)) resolve(seen)
    })
  })
  expect(existsSync(file)).toBe(false)
  await run("approvals", "approve", /approve (\S+)\n/.exec(line)![1]!)
  expect(await end).toMatchObject({ code: 0, stdout: "Done.\n" })
  expect(existsSync(file)).toBe(true)
})

test.each(["SIGINT", "SIGTERM"] as const)("%s stops a run: exit code 6, and it can go on", async (signal) => {
  const server = await startModelServer()
  server.reply({ text: "thinking", then: "hang" }, { text: "Here I am again." })
  const cli = makeCli()
  cli.write(
    "quartermaster.yml",
    `models:\n  local: { provider: openai-compatible, baseUrl: "${server.openai}", model: x }\n`,
  )
  await cli.run("trust", "--yes")
  const child = cli.start("run", "Think.", "--json")
  const end = outputOf(child, "")
  await waitForOutput(child, '"start"')
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  child.kill(signal)
  const { code, stdout } = await end
  const last = JSON.parse(stdout.trim().split("\n").at(-1)!) as { status: string; id: string; resume: string }
  expect([code, last.status, last.resume]).toEqual([6, "aborted", `qm run --resume ${last.id} "Go on."`])
  const resumed = await cli.run("run", "--resume", last.id, "Go on.")
  expect(resumed).toMatchObject({ code: 0, stdout: "Here I am again.\n" })
  await server.close()
})

test("the example that plays a model runs until it asks for its first approval, and says why it asks again", async () => {
  const cli = makeCli()
  const example = (name: string) =>
    readFileSync(new URL(`../../../../../examples/chat/${name}`, import.meta.url), "utf8")
  for (const name of ["quartermaster.yml", "demo.yml"]) cli.write(name, example(name))
  await cli.run("trust", "--yes")
  const { code, stderr } = await cli.run("run", "Hello.")
  expect(code).toBe(4)
  expect(stderr).toContain("Waiting for a person: operator wants to call write_file: notes.md.")
  const [, approve = "", resume = ""] = /Answer with: qm (.+)\nThen go on with: qm (.+)\n$/.exec(stderr) ?? []
  expect((await cli.run(...approve.split(" "))).code).toBe(0)
  cli.write("notes.md", "meanwhile\n")
  expect((await cli.run(...resume.split(" "))).stderr).toMatch(
    /Waiting for a person: .* approved revision 1\. Since then notes\.md has changed\. Answer with: .* --revision 2\n/,
  )
})
