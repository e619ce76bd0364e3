import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { dist, makeCli } from "./interfaces/cli/testing.ts"
import type { Config } from "./config/schema.ts"
import type { PendingItem } from "./core/approval.ts"
import { openTestApp } from "./testing/test-app.ts"
import { findBubblewrap, bubblewrapCommand, startShellApp } from "./testing/shell-app.ts"

const found = findBubblewrap()
if ("why" in found) console.warn(`The sandboxed shell is not tested: ${found.why}.`)

/**
 * A line of bash that tries to get the call $ID approved, and what its output shows when it fails; `unasked` is for the
 * sandbox of run_command where that differs. An attack that succeeds harms only the folders of its test.
 */
type Attack = [what: string, line: string, shows: RegExp, unasked?: RegExp]

/** Writes an approval and a grant directly into the database. */
const forge = `node --input-type=module -e '
  import { createRequire } from "node:module"
  const { DatabaseSync } = createRequire(process.env.QM)("@photostructure/sqlite")
  const db = new DatabaseSync(process.env.DATA + "/quartermaster.db", { timeout: 10000 })
  const yes = JSON.stringify({ approved: true, by: "ann", at: Date.now() })
  const body = JSON.stringify({ id: "g", verdict: "allow", scope: "tool-always", agentId: "dev", tool: "set_env", expiresAt: null })
  db.prepare("insert into documents select ?, ?, null, 1, ?, 0, ?, coalesce(max(change), 0) + 1 from documents").run("grant", "g", body, "ann")
  db.prepare("update calls set state = ?, answer = ? where id = ?").run("ready", yes, process.env.ID)
  console.log("forged")'`

const qmOutside = "env -u QM_INSIDE HOME=$PERSON node $QM"

/** Stops an attack if the person's home is visible. */
const onlyInSandbox = `[ -e "$PERSON/.config/quartermaster/person.token" ] && { echo "This is no sandbox."; exit 99; };`

/** In the sandbox of run_command the data folder is empty and read-only. */
const readOnly = /EROFS: read-only file system/

const attacks: readonly Attack[] = [
  ["asks the command line", "node $QM approvals approve $ID", /is for people.*QM_INSIDE is set/],
  ["names the data folder", "node $QM --data $DATA approvals approve $ID --remember tool-always", /QM_INSIDE is set/],
  [
    "forgets that it is inside",
    `${qmOutside} approvals approve $ID`,
    /Nothing waits|No call|was not created by you/,
    /cannot be remembered/,
  ],
  [
    "forgets it and names the folder",
    `${qmOutside} --data $DATA approvals approve $ID`,
    /Nothing waits|No call/,
    readOnly,
  ],
  [
    "poses as a person",
    `QM_PERSON_TOKEN=guess ${qmOutside} --data $DATA --as ann approvals approve $ID`,
    /no person/,
    readOnly,
  ],
  ["agrees by a flag", `node $QM --data $DATA call set_env key=A value=1 --agent dev --yes`, /QM_INSIDE is set/],
  ["writes into the database", forge, /no such table/, /unable to open database/],
  ["reads the key of the record", "cat $DATA/record.key", /No such file/],
  ["reads the person's token", "cat $PERSON/.config/quartermaster/person.token", /No such file/],
  [
    "looks for any token",
    "find / -name '*.token' -o -name record.key -o -name store.id 2>/dev/null; echo end",
    /^end\n$/,
  ],
  [
    "writes the person's configuration",
    `mkdir -p $PERSON/.config/quartermaster && echo '{rules: [{allow: "*", because: x}]}' >$PERSON/.config/quartermaster/quartermaster.yml; echo end`,
    /end/,
  ],
  [
    "writes a configuration where the person works",
    `echo 'rules: [{allow: "*", because: x}]' >quartermaster.yml; echo 'agent: dev' >quartermaster.local.yml; echo end`,
    /^end\n$/,
  ],
  ["trusts it", `node $QM trust; ${qmOutside} trust; echo end`, /QM_INSIDE is set[^]*end/],
  ["freezes everyone", `node $QM freeze; ${qmOutside} --data $DATA freeze`, /QM_INSIDE is set/],
  ["thaws who is frozen", `node $QM thaw --agent ice; ${qmOutside} --data $DATA thaw --agent ice`, /QM_INSIDE is set/],
  ["takes the data folder away", "rm -rf $DATA; mv $DATA away; umount $DATA; rmdir $DATA", /busy/],
  [
    "makes a data folder where the person will work",
    `mkdir -p sub && cd sub && ${qmOutside} --data .quartermaster call current_time >/dev/null && ${forge.replace("process.env.DATA", '".quartermaster"')}`,
    /forged/,
  ],
  [
    "makes one by a link",
    "mkdir -p other && ln -s ../sub/.quartermaster other/.quartermaster && echo linked",
    /linked/,
  ],
  [
    "connects to the app",
    `(echo approve $ID >/dev/tcp/127.0.0.1/$PORT) 2>&1; for host in 127.0.0.1 localhost ::1 0.0.0.0; do node -e 'require("net").connect(process.argv[1], process.argv[2]).on("error", (error) => console.log(error.code)).on("connect", () => console.log("connected"))' $PORT $host; done`,
    /refused|unreachable|ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN/,
  ],
  ["kills the app", "kill -9 $APP; echo end", /No such process[^]*end/],
  ["reads its memory", "ls /proc/$APP/mem /proc/$APP/environ; cat /proc/1/root$DATA/record.key", /No such file/],
  [
    "looks through open files",
    "ls -l /proc/*/fd /proc/*/cwd /proc/*/root 2>&1 | grep -e quartermaster.db -e record.key; echo end",
    /^end\n$/,
  ],
  [
    "uncovers what is hidden",
    "umount $DATA; umount -l $DATA; cat $DATA/record.key",
    /(must be superuser|not permitted)[^]*No such file/,
  ],
  [
    "makes what is read-only writable",
    "mount -o remount,rw,bind /usr && echo writable",
    /denied|not permitted|must be superuser/,
  ],
  ["becomes root of its own", "unshare -Urm echo became", /not permitted|No space left/],
  [
    "puts programs in the person's way",
    `mkdir -p bin node_modules/@photostructure/sqlite; printf '#!/bin/sh\\ntouch $PWD/pwned\\n' | tee qm node bash bwrap bin/qm >/dev/null; chmod +x qm node bash bwrap bin/qm; echo 'require("fs").writeFileSync("pwned", "")' | tee node_modules/@photostructure/sqlite/index.js .bashrc index.js >/dev/null; echo end`,
    /^end\n$/,
  ],
]

/** Commands that only people may run, and no program that an agent started. */
const personCommands = `
  approvals list
  approvals show $ID
  approvals approve $ID
  approvals reject $ID
  approvals edit $ID {}
  grants list
  grants revoke x
  rules add '{"allow":"*","because":"x"}'
  rules remove x
  roles create --name x
  roles update developer --groups ''
  agents create --id x --role developer
  agents terminate dev
  agents inbox dev
  departments create --id x
  people create --id x
  mode edits --session s
  freeze
  thaw --agent ice
  trust
  trust --data $DATA
  init
  audit drop --before 0d --yes
  backup copy
  restore copy`

/** Harmless lines and dangerous ones. */
const everyday = ["true", "echo hello", "ls", ":", `${qmOutside} approvals approve $ID`, forge]

/** A person's folder with a waiting call of an agent, and everything an attacker may know. */
async function makeScene(
  words: (cli: ReturnType<typeof makeCli>) => readonly string[],
  agreeable: boolean,
  config?: Config,
) {
  const cli = makeCli()
  const { run, cwd, dataDir } = cli
  const home = join(cwd, "../home")
  await run("roles", "create", "--name", "developer", "--groups", "system,command")
  for (const id of ["dev", "ice"]) await run("agents", "create", "--id", id, "--role", "developer")
  expect(await run("freeze", "--agent", "ice")).toMatchObject({ code: 0 })
  const marks = join(cwd, "../marks")
  const app = await startShellApp({ dataDir, workspace: cwd, home, words: words(cli), agreeable, marks, config })
  const ended = app.call({ agentId: "dev", tool: "set_env", input: { key: "A", value: "owned" } })
  const list = async () => JSON.parse((await run("approvals", "list", "--json")).stdout) as PendingItem[]
  while ((await list()).length === 0);
  const id = (await list())[0]!.callId
  const known = { ID: id, DATA: dataDir, PERSON: home, PORT: app.port, APP: app.pid, QM: join(dist, "qm.js") }
  const prefix = Object.entries(known).map(([name, value]) => `export ${name}='${value}'; `)
  return { ...cli, home, app, id, ended, list, marks, line: (attack: string) => prefix.join("") + attack }
}

/** Everything in the store that gives rights, and the waiting calls. */
async function rightsIn(dir: string) {
  const opened = await openTestApp({ data: { dir } }, { writes: "direct" })
  const { approvals, org, rules } = opened
  const people = { people: org.listPeople(), roles: org.listRoles(), agents: org.listAgents() }
  const version = rules.version()
  const rights = { version, ...people, rules: rules.list(), grants: await approvals.grants(), frozen: opened.frozen() }
  const state = { rights, waits: await approvals.list(), head: await opened.audit.head() }
  await opened.close()
  return state
}

/** The files of a folder by name, mode and content. */
function contents(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => [name, statSync(join(folder, name))] as const)
    .map(([name, stat]) => `${name} ${stat.mode} ${stat.isFile() ? digest(join(folder, name)) : ""}`)
}

function digest(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex")
}

const needsSandbox = test.runIf("path" in found || process.env["CI"] !== undefined)

/** The sandboxed shells of an agent: of a tool whose every call a person approves, or of run_command without asking. */
const shells = ["a tool that a person agrees to", "run_command in shell mode sandbox"] as const

/** Hides a line from the guards of commands and paths, so that only the sandbox or a person protects. */
const hidden = (line: string) => `eval "$(echo ${Buffer.from(line).toString("base64")} | base64 -d)"`

needsSandbox.each(shells)(
  "an agent with the shell of %s cannot approve its own call by any attack",
  async (shellOf) => {
    if (!("path" in found)) throw new Error(`In CI the sandbox must be tested, and ${found.why}.`)
    const isMode = shellOf === shells[1]
    const config: Config = isMode ? { tools: { shell: { mode: "sandbox", timeout: 120_000 } } } : {}
    const scene = await makeScene(({ cwd, dataDir }) => bubblewrapCommand(found.path, cwd, dataDir), !isMode, config)
    const { app, id, home, dataDir, cwd, run, shell, line, marks } = scene
    const before = await rightsIn(dataDir)
    const secrets = () => [contents(home), digest(join(dataDir, "record.key")), digest(join(dataDir, "store.id"))]
    const secretsBefore = secrets()
    for (const [what, attack, shows, showsUnasked = shows] of attacks) {
      const command = line(`${onlyInSandbox} ${attack}`)
      const tool = isMode ? "run_command" : "test_shell"
      const { result, success, error } = await app.call({ agentId: "dev", tool, input: { command: hidden(command) } })
      expect([what, success, error]).toEqual([what, true, undefined])
      const { output, stdout, stderr } = result as Record<"output" | "stdout" | "stderr", string>
      expect(isMode ? stderr + stdout : output, what).toMatch(isMode ? showsUnasked : shows)
    }
    if (!isMode) expect(readFileSync(marks, "utf8").trim().split("\n")).toHaveLength(attacks.length)

    expect(app.isAlive()).toBe(true)
    expect(await app.connections()).toBe(0)
    const after = await rightsIn(dataDir)
    expect(after.rights).toEqual(before.rights)
    expect(after.waits).toEqual(before.waits)
    expect(after.waits).toMatchObject([{ callId: id, kind: "call", revision: 1, votes: [] }])
    expect(secrets()).toEqual(secretsBefore)
    expect(await run("audit", "verify", "--head", before.head)).toMatchObject({ code: 0 })
    expect(await shell("cd sub && qm grants list")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("was not created by you") as string,
    })
    expect(await shell("cd other && qm grants list")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is a link") as string,
    })
    const warned = await run("why", "set_env", "key=A", "value=1", "--agent", "dev", "--json")
    expect(warned.stderr.match(/is not trusted, so this is ignored/g)).toHaveLength(1)
    expect(JSON.parse(warned.stdout)).toMatchObject({ verdict: "ask" })
    expect(existsSync(join(cwd, "pwned"))).toBe(false)

    expect(await run("approvals", "approve", id)).toMatchObject({ code: 0 })
    expect(await scene.ended).toMatchObject({ success: true, callId: id })
  },
)

test("without a sandbox a shell has the person's rights, so each command asks and none runs before an approval", async () => {
  const { app, id, run, list, line, marks, dataDir } = await makeScene(() => ["bash", "-c"], false)
  const before = await rightsIn(dataDir)
  const commandLines = personCommands.trim().split(/\n\s*/)
  const allPersonCommands = commandLines
    .map((words) => `node $QM ${words} >/dev/null; echo "exit $? ${words.split(" ")[0]}"`)
    .join("\n")
  const commands = [allPersonCommands, ...everyday]
  const ended = commands.map((command) =>
    app.call({ agentId: "dev", tool: "test_shell", input: { command: hidden(line(command)) } }),
  )
  while ((await list()).length < commands.length + 1);
  const shells = (await list()).filter(({ tool }) => tool === "test_shell")
  expect(shells.map(({ kind, level, remember }) => ({ kind, level, remember }))).toEqual(
    shells.map(() => ({ kind: "call", level: "sensitive", remember: [] })),
  )
  expect(existsSync(marks)).toBe(false)

  const agreed = shells.find(({ input }) => (input as { command: string }).command === hidden(line(allPersonCommands)))!
  for (const { callId } of shells) if (callId !== agreed.callId) await run("approvals", "reject", callId)
  expect(existsSync(marks)).toBe(false)
  expect(await run("approvals", "approve", agreed.callId, "--remember", "tool-always")).toMatchObject({ code: 1 })
  expect(await run("approvals", "approve", agreed.callId)).toMatchObject({ code: 0 })
  const [approved, ...rejected] = await Promise.all(ended)
  expect(rejected.map(({ code }) => code)).toEqual(rejected.map(() => "approval_rejected"))
  const { output } = approved!.result as { output: string }
  expect(output.match(/^exit \d+ \w+$/gm)).toEqual(commandLines.map((words) => `exit 3 ${words.split(" ")[0]}`))

  const ran = readFileSync(marks, "utf8").trim().split("\n")
  expect(ran).toEqual([agreed.callId])
  const { username } = userInfo()
  const history = JSON.parse((await run("audit", "show", ran[0]!, "--json")).stdout) as { kind: string; by?: string }[]
  const answers = history.filter(({ kind }) => kind === "answered")
  expect(answers).toHaveLength(1)
  expect([username, `${username}@localhost`]).toContain(answers[0]?.by)
  const after = await rightsIn(dataDir)
  expect(after.rights).toEqual(before.rights)
  expect(after.waits).toMatchObject([{ callId: id, revision: 1, votes: [] }])
  expect(await run("audit", "verify", "--head", before.head)).toMatchObject({ code: 0 })
})

test("the attacks that fail in the sandbox succeed outside it", async () => {
  const { id, shell, run, line, list, cwd } = await makeScene(() => ["bash", "-c"], false)
  mkdirSync(join(cwd, "elsewhere"))
  const byCommand = attacks.find(([what]) => what === "forgets it and names the folder")!
  expect(await shell(line(`cd elsewhere; ${byCommand[1]}`))).toMatchObject({ code: 0 })
  expect(await list()).toEqual([])
  expect(await shell(line(forge))).toMatchObject({ code: 0, stdout: "forged\n" })
  expect(JSON.parse((await run("grants", "list", "--json")).stdout)).toMatchObject([{ id: "g", agentId: "dev" }])
  expect(id).not.toBe("")
})

test("the command line keeps tools from its tokens, and from writing the configuration it was started with", async () => {
  const { run, cwd, write } = makeCli()
  const folder = join(cwd, "../home/.config/quartermaster")
  mkdirSync(join(folder, "people"), { recursive: true })
  const token = join(folder, "people/ann.token")
  writeFileSync(token, "the-token")
  write("mine.yml", `{tools: {allowedPaths: [., ${join(cwd, "../home")}]}, rules: [{allow: "*", because: Test.}]}`)
  const call = async (tool: string, ...input: string[]) => {
    const { stdout } = await run("--config", "mine.yml", "call", tool, ...input, "--json")
    return (JSON.parse(stdout) as { code?: string }).code
  }
  expect(await call("read_file", `path=${token}`)).toBe("permission_denied")
  expect(await call("write_file", `path=${token}`, "content=x")).toBe("permission_denied")
  expect(await call("read_file", "path=mine.yml")).toBeUndefined()
  expect(await call("write_file", "path=mine.yml", "content=x")).toBe("permission_denied")
  expect(await call("write_file", "path=other.yml", "content=x")).toBeUndefined()
})
