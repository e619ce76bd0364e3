import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli, waitForOutput } from "./testing.ts"

const team = (tokenHash = "") => `org:
  people:
    - id: ann
      roles: [lead]
      ${tokenHash}
rules:
  - { ask: write_file, approvers: { role: lead }, because: A lead reads it. }
`

/** The only file with the person's token. */
function tokenFile(home: string, id: string): string {
  const folder = join(home, ".config/quartermaster/people")
  const [name = "", ...others] = readdirSync(folder)
  expect(others).toEqual([])
  return join(folder, name, `${id}.token`)
}

test("a person of the configuration gets a token, answers with it and opens the console", async () => {
  const cli = makeCli()
  cli.write("quartermaster.yml", team())
  const noted = /Note: .*quartermaster.yml:3: 'org.people\[0\]': 'ann' has no tokenHash, .* 'qm people token ann' makes/
  expect((await cli.run("check")).stderr).toMatch(noted)
  expect((await cli.run("trust", "--yes")).stderr).toMatch(noted)
  const waiting = cli.start("call", "write_file", "path=a.txt", "content=hi", "--wait", "300")
  const ended = new Promise((resolve) => waiting.on("close", resolve))
  await waitForOutput(waiting, "qm approvals")
  const [{ callId }] = JSON.parse((await cli.run("approvals", "list", "--json")).stdout) as [{ callId: string }]
  const refused = await cli.run("approvals", "approve", callId, "--as", "ann")
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("Run 'qm people token ann'") })

  cli.write("quartermaster.yml", `${team()}# not trusted yet\n`)
  const { stdout, stderr } = await cli.run("people", "token", "ann")
  expect(stderr.match(/is not trusted, so this is ignored/g)).toHaveLength(1)
  const [, token = "", line = ""] = /^ {2}(qmp_\S+)$[^]*^ {2}(tokenHash: "[0-9a-f]{64}")$/m.exec(stdout) ?? []
  const expires = /^ {2}(tokenExpiresAt: "20\d\d-\d\d-\d\d")$/m.exec(stdout)?.[1]
  const file = tokenFile(cli.home, "ann")
  expect(readFileSync(file, "utf8")).toBe(`${token}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect((await cli.run("people", "token", "ann")).stdout).toContain(line)

  cli.write("quartermaster.yml", team(`${line}\n      tokenExpiresAt: 2020-01-31`))
  await cli.run("trust", "--yes")
  expect((await cli.run("approvals", "approve", callId, "--as", "ann")).stderr).toContain("has expired")
  cli.write("quartermaster.yml", team(`${line}\n      ${expires}`))
  expect((await cli.run("trust", "--yes")).stderr).toBe("")
  expect((await cli.run("people", "token", "ann")).stdout).toContain("'qm --as ann' works for this user.")
  expect((await cli.run("approvals", "approve", callId, "--as", "ann")).code).toBe(0)
  await ended
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(true)

  const server = cli.start("serve", "--port", "0")
  await waitForOutput(server, "/signin#")
  expect((await cli.run("open", "--as", "ann")).stdout).toMatch(/\/signin#\S+\nThis link signs ann in, once/)
})

test("a person whom no file names gets no token, and one of the store gets another one", async () => {
  const cli = makeCli()
  cli.write("quartermaster.yml", team())
  expect(await cli.run("people", "token", "anne")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is no person 'anne'. Did you mean 'ann'?"),
  })
  // The file is not trusted, so the hash would count for nothing yet.
  expect((await cli.run("people", "token", "ann")).stdout).toContain("then run 'qm trust'")
  await cli.run("people", "create", "--id", "dora")
  const file = tokenFile(cli.home, "dora")
  const first = readFileSync(file, "utf8")
  const asDora = async () => (await cli.run("people", "update", "dora", "--name", "Dora", "--as", "dora")).code
  const renewed = await cli.run("people", "token", "dora", "--expires", "never")
  expect(renewed.stdout).toContain("The token of dora that there was is revoked.")
  expect(readFileSync(file, "utf8")).not.toBe(first)
  expect(await asDora()).toBe(0)
  expect((await cli.run("people", "token", "dora", "--revoke")).stdout).toContain("The token of dora is revoked.")
  expect((await cli.run("people", "show", "dora")).stdout).toMatch(/^token: +none/m)
  expect(await asDora()).not.toBe(0)
})
