import { chmodSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli } from "../../testing.ts"

test("init writes a trusted file and does not overwrite one", async () => {
  const { run, cwd } = makeCli()
  const written = await run("init")
  expect(written).toMatchObject({ code: 0, stderr: "" })
  expect(written.stdout).toContain(`Wrote ${join(cwd, "quartermaster.yml")} and trusted it.`)
  expect(written.stdout).toContain("A person approves every command (tools.shell.mode: ask).")
  expect(await run("call", "base64_encode", "text=a")).toMatchObject({ code: 0, stderr: "" })
  expect((await run("doctor")).stdout).toContain("quartermaster.yml, trusted.")
  expect(await run("trust")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/quartermaster\.yml is already trusted, and has not changed since\./) as string,
  })
  expect(await run("init")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not overwritten") as string })
})

test("only the stricter settings of an untrusted file apply until a person trusts it", async () => {
  const { run, write } = makeCli()
  write(
    "quartermaster.yml",
    "agent: root\ntools: { permissions: { set_env: { level: public }, sleep: { dangerous: true } } }",
  )
  const untrusted = await run("call", "set_env", "key=A", "value=1", "--wait", "0")
  expect(untrusted.code).toBe(4)
  expect(untrusted.stderr.match(/^Warning: /gm)).toHaveLength(1)
  expect(untrusted.stderr).toMatch(/not trusted, so this is ignored: agent, tools\.permissions\.set_env\.level\./)
  expect((await run("call", "sleep", "duration=0", "--yes", "--wait", "0")).code).toBe(4)

  const asked = await run("trust")
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("add --yes.") as string })
  expect((await run("call", "set_env", "key=A", "value=1", "--wait", "0")).code).toBe(4)
  const trusted = await run("trust", "--yes")
  expect(trusted.stdout).toMatch(
    /quartermaster\.yml\n {2}SHA-256 [0-9a-f]{64}\nOnce it is trusted, this applies:\n {2}agent: "root"\n/,
  )
  expect(trusted.stdout).toContain('  tools.permissions.set_env.level: "public"\nTrusted.')
  expect(await run("call", "--agent", "operator", "set_env", "key=A", "value=1")).toMatchObject({ code: 0, stderr: "" })
  expect((await run("call", "sleep", "duration=0")).code).toBe(3)

  write("quartermaster.yml", "agent: ghost")
  expect((await run("tools", "--json")).stderr).toMatch(/^Warning: .* is not trusted, so this is ignored: agent\./)
})

test("all problems of a configuration are reported at once", async () => {
  const { run, write } = makeCli()
  write("quartermaster.yml", "agnet: x\ntools: { timeout: soon }")
  const { code, stderr, stdout } = await run("call", "current_time")
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
  expect(stderr).toMatch(/quartermaster\.yml:1:1: 'agnet' is not a key .* Did you mean 'agent'\?\n/)
  expect(stderr).toMatch(/quartermaster\.yml:2:19: 'tools\.timeout' cannot be of type string/)
  expect((await run("trust", "--yes")).code).toBe(2)
  const doctor = await run("doctor")
  expect(doctor.code).toBe(1)
  expect(doctor.stdout.match(/^broken +Configuration: /gm)).toHaveLength(2)
})

test("a configured agent with an unknown role is a configuration error", async () => {
  const { run, write } = makeCli()
  write("mine.yml", "org: { agents: [{ id: ada, role: nobody }] }")
  const fault = await run("--config", "mine.yml", "tools")
  expect(fault).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the role 'nobody', which does not exist") as string,
  })
})

test("doctor checks the machine and reports what is broken", async () => {
  const { run, dataDir } = makeCli()
  await run("call", "current_time")
  const healthy = await run("doctor")
  expect(healthy).toMatchObject({ code: 0, stderr: "" })
  for (const line of [
    `ok       Node.js ${process.versions.node}.`,
    "note     There is no configuration file",
    "ok       SQLite 3.",
    `ok       ${dataDir} has mode 0700.`,
    `ok       ${join(dataDir, "record.key")} has mode 0600.`,
    "note     There is no terminal here",
  ]) {
    expect(healthy.stdout).toContain(line)
  }
  expect(healthy.stdout).toMatch(/^ok +\d+\.\d GB are free/m)
  expect(healthy.stdout).toMatch(/^(missing|ok) .*(bubblewrap|bwrap)/m)
  expect(statSync(join(dataDir, "quartermaster.db")).mode & 0o777).toBe(0o600)

  chmodSync(join(dataDir, "record.key"), 0o644)
  const sick = await run("doctor", "--json")
  expect(sick.code).toBe(1)
  const findings = JSON.parse(sick.stdout) as { state: string; sentence: string }[]
  expect(findings.filter(({ state }) => state === "broken")).toEqual([
    { state: "broken", sentence: expect.stringContaining("chmod 600") as string },
  ])
  const refused = await run("call", "current_time")
  expect(refused).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("can be read by others") as string,
  })
})

test("an agent of an untrusted file does not exist yet, and 'qm trust' is what to do", async () => {
  const { run, write } = makeCli()
  write(
    "quartermaster.yml",
    "tools: { maxFileSize: 2000000000, timeout: 600000, maxConcurrent: 99, hosts: { allow: [a.example] } }\nrules: [{ allow: sleep, because: So. }, { allow: http_get, because: So. }]\norg: { roles: [{ name: coder }], agents: [{ id: dev, role: coder }] }\n",
  )
  for (const words of [["why", "read_file", "path=a"], ["call", "read_file", "path=a"], ["mcp"], ["tools"]]) {
    const { code, stderr } = await run(...words, "--agent", "dev")
    expect(code).toBe(1)
    expect(stderr).toMatch(/Agent 'dev' is in .*quartermaster\.yml, which is not trusted, .* run 'qm trust'\./)
    expect(stderr).not.toContain("agents create")
    expect(stderr).toContain("this is ignored: 4 settings of tools, org, 2 allow rules.")
  }
})
