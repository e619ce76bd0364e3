import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { dist, makeDesk } from "./cli/testing.ts"
import type { DeskItem } from "./model/approval.ts"
import { open } from "./testing/open.ts"
import { findBubblewrap, sandbox, startHouse } from "./testing/shell.ts"

const found = findBubblewrap()
if ("why" in found) console.warn(`The sandboxed shell is not tested: ${found.why}.`)

/**
 * A line of bash that tries to get the call $ID approved, and what its output shows when it could not. Each does harm to
 * nothing but the scene of its test, also where it succeeds.
 */
type Attack = [what: string, line: string, shows: RegExp]

/** Writes a yes, and a grant, into the database itself. */
const forge = `node --input-type=module -e '
  import { createRequire } from "node:module"
  const { DatabaseSync } = createRequire(process.env.QM)("@photostructure/sqlite")
  const db = new DatabaseSync(process.env.DATA + "/quartermaster.db")
  const yes = JSON.stringify({ approved: true, by: "ann", at: Date.now() })
  const body = JSON.stringify({ id: "g", verdict: "allow", scope: "tool-always", agentId: "dev", tool: "set_env", expiresAt: null })
  const { change } = db.prepare("select coalesce(max(change), 0) + 1 as change from documents").get()
  db.prepare("insert into documents values (?, ?, null, 1, ?, 0, ?, ?)").run("grant", "g", body, "ann", change)
  db.prepare("update calls set state = ?, answer = ? where id = ?").run("ready", yes, process.env.ID)
  console.log("forged")'`

const qmOutside = "env -u QM_INSIDE HOME=$PERSON node $QM"

/** No attack begins where the person's home can be seen. */
const onlyInSandbox = `[ -e "$PERSON" ] && { echo "This is no sandbox."; exit 99; };`

const attacks: readonly Attack[] = [
  ["asks the command line", "node $QM approvals approve $ID", /is for people.*QM_INSIDE is set/],
  ["names the data folder", "node $QM --data $DATA approvals approve $ID --remember tool-always", /QM_INSIDE is set/],
  ["forgets that it is inside", `${qmOutside} approvals approve $ID`, /Nothing waits|No call|was not made here/],
  ["forgets it and names the folder", `${qmOutside} --data $DATA approvals approve $ID`, /Nothing waits|No call/],
  ["poses as a person", `QM_PERSON_TOKEN=guess ${qmOutside} --data $DATA --as ann approvals approve $ID`, /no person/],
  ["agrees by a flag", `node $QM --data $DATA call set_env key=A value=1 --agent dev --yes`, /QM_INSIDE is set/],
  ["writes into the database", forge, /no such table/],
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
    `mkdir -p sub && cd sub && ${qmOutside} call current_time >/dev/null && ${forge.replace("process.env.DATA", '".quartermaster"')}`,
    /forged/,
  ],
  [
    "makes one by a link",
    "mkdir -p other && ln -s ../sub/.quartermaster other/.quartermaster && echo linked",
    /linked/,
  ],
  [
    "connects to the house",
    `(echo approve $ID >/dev/tcp/127.0.0.1/$PORT) 2>&1; for host in 127.0.0.1 localhost ::1 0.0.0.0; do node -e 'require("net").connect(process.argv[1], process.argv[2]).on("error", (error) => console.log(error.code)).on("connect", () => console.log("connected"))' $PORT $host; done`,
    /refused|unreachable|ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN/,
  ],
  ["ends the house", "kill -9 $HOUSE; echo end", /No such process[^]*end/],
  ["reads its memory", "ls /proc/$HOUSE/mem /proc/$HOUSE/environ; cat /proc/1/root$DATA/record.key", /No such file/],
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

/** What people do at the command line, and no program that an agent started. */
const closedDoors = `
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

/** Lines that would do little, and lines that would do much. */
const everyday = ["true", "echo hello", "ls", ":", `${qmOutside} approvals approve $ID`, forge]

/** A person's folder with a call of an agent that waits in it, and everything an attacker may know. */
async function makeScene(words: (desk: ReturnType<typeof makeDesk>) => readonly string[], agreeable: boolean) {
  const desk = makeDesk()
  const { run, cwd, dataDir } = desk
  const home = join(cwd, "../home")
  await run("roles", "create", "--name", "developer", "--groups", "system")
  for (const id of ["dev", "ice"]) await run("agents", "create", "--id", id, "--role", "developer")
  expect(await run("freeze", "--agent", "ice")).toMatchObject({ code: 0 })
  const marks = join(cwd, "../marks")
  const house = await startHouse({ dataDir, workspace: cwd, home, words: words(desk), agreeable, marks })
  const ended = house.call({ agentId: "dev", tool: "set_env", input: { key: "A", value: "owned" } })
  const list = async () => JSON.parse((await run("approvals", "list", "--json")).stdout) as DeskItem[]
  while ((await list()).length === 0);
  const id = (await list())[0]!.callId
  const known = { ID: id, DATA: dataDir, PERSON: home, PORT: house.port, HOUSE: house.pid, QM: join(dist, "qm.js") }
  const prefix = Object.entries(known).map(([name, value]) => `export ${name}='${value}'; `)
  return { ...desk, home, house, id, ended, list, marks, line: (attack: string) => prefix.join("") + attack }
}

/** Everything in the store that gives a right, and what waits. */
async function rightsIn(dir: string) {
  const system = await open({ data: { dir } }, { writes: "direct" })
  const { desk, org, rules } = system
  const people = { people: org.listPeople(), roles: org.listRoles(), agents: org.listAgents() }
  const version = rules.version()
  const rights = { version, ...people, rules: rules.list(), grants: await desk.grants(), frozen: system.frozen() }
  const state = { rights, waits: await desk.list(), head: await system.audit.head() }
  await system.close()
  return state
}

/** What lies in a folder, by name, mode and content. */
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

needsSandbox("an agent with a shell in a sandbox tries everything and cannot approve its own call", async () => {
  if (!("path" in found)) throw new Error(`In CI the sandbox must be tested, and ${found.why}.`)
  const scene = await makeScene(({ cwd, dataDir }) => sandbox(found.path, cwd, dataDir), true)
  const { house, id, home, dataDir, cwd, run, shell, line, marks } = scene
  const before = await rightsIn(dataDir)
  const secrets = () => [contents(home), digest(join(dataDir, "record.key")), digest(join(dataDir, "store.id"))]
  const kept = secrets()
  for (const [what, attack, shows] of attacks) {
    const { result, success } = await house.call({
      agentId: "dev",
      tool: "test_shell",
      input: { command: line(`${onlyInSandbox} ${attack}`) },
    })
    expect([what, success]).toEqual([what, true])
    expect((result as { output: string }).output, what).toMatch(shows)
  }
  expect(readFileSync(marks, "utf8").trim().split("\n")).toHaveLength(attacks.length)

  expect(house.isAlive()).toBe(true)
  expect(await house.connections()).toBe(0)
  const after = await rightsIn(dataDir)
  expect(after.rights).toEqual(before.rights)
  expect(after.waits).toEqual(before.waits)
  expect(after.waits).toMatchObject([{ callId: id, kind: "call", revision: 1, votes: [] }])
  expect(secrets()).toEqual(kept)
  expect(await run("audit", "verify", "--head", before.head)).toMatchObject({ code: 0 })
  expect(await shell("cd sub && qm grants list")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("was not made here") as string,
  })
  expect(await shell("cd other && qm grants list")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is a link") as string,
  })
  const warned = await run("why", "set_env", "key=A", "value=1", "--agent", "dev", "--json")
  expect(warned.stderr.match(/is ignored because the file is not trusted/g)).toHaveLength(2)
  expect(JSON.parse(warned.stdout)).toMatchObject({ verdict: "ask" })
  expect(existsSync(join(cwd, "pwned"))).toBe(false)

  expect(await run("approvals", "approve", id)).toMatchObject({ code: 0 })
  expect(await scene.ended).toMatchObject({ success: true, callId: id })
})

test("without a sandbox a shell has the person's rights, so that each command is asked for and none runs before a yes", async () => {
  const { house, id, run, list, line, marks, dataDir } = await makeScene(() => ["bash", "-c"], false)
  const before = await rightsIn(dataDir)
  const doors = closedDoors.trim().split(/\n\s*/)
  const insistent = doors
    .map((words) => `node $QM ${words} >/dev/null; echo "exit $? ${words.split(" ")[0]}"`)
    .join("\n")
  const commands = [insistent, ...everyday]
  const ended = commands.map((command) =>
    house.call({ agentId: "dev", tool: "test_shell", input: { command: line(command) } }),
  )
  while ((await list()).length < commands.length + 1);
  const shells = (await list()).filter(({ tool }) => tool === "test_shell")
  expect(shells.map(({ kind, level, remember }) => ({ kind, level, remember }))).toEqual(
    shells.map(() => ({ kind: "call", level: "sensitive", remember: [] })),
  )
  expect(existsSync(marks)).toBe(false)

  const agreed = shells.find(({ input }) => (input as { command: string }).command === line(insistent))!
  for (const { callId } of shells) if (callId !== agreed.callId) await run("approvals", "reject", callId)
  expect(existsSync(marks)).toBe(false)
  expect(await run("approvals", "approve", agreed.callId, "--remember", "tool-always")).toMatchObject({ code: 1 })
  expect(await run("approvals", "approve", agreed.callId)).toMatchObject({ code: 0 })
  const [yes, ...noes] = await Promise.all(ended)
  expect(noes.map(({ code }) => code)).toEqual(noes.map(() => "approval_rejected"))
  const { output } = yes!.result as { output: string }
  expect(output.match(/^exit \d+ \w+$/gm)).toEqual(doors.map((words) => `exit 3 ${words.split(" ")[0]}`))

  const ran = readFileSync(marks, "utf8").trim().split("\n")
  expect(ran).toEqual([agreed.callId])
  const { username } = userInfo()
  const story = JSON.parse((await run("audit", "show", ran[0]!, "--json")).stdout) as { kind: string; by?: string }[]
  const answers = story.filter(({ kind }) => kind === "answered")
  expect(answers).toHaveLength(1)
  expect([username, `${username}@localhost`]).toContain(answers[0]?.by)
  const after = await rightsIn(dataDir)
  expect(after.rights).toEqual(before.rights)
  expect(after.waits).toMatchObject([{ callId: id, revision: 1, votes: [] }])
  expect(await run("audit", "verify", "--head", before.head)).toMatchObject({ code: 0 })
})

test("the commands that fail in the sandbox are real: outside of it they would have worked", async () => {
  const { id, shell, run, line, list, cwd } = await makeScene(() => ["bash", "-c"], false)
  mkdirSync(join(cwd, "elsewhere"))
  const byCommand = attacks.find(([what]) => what === "forgets it and names the folder")!
  expect(await shell(line(`cd elsewhere; ${byCommand[1]}`))).toMatchObject({ code: 0 })
  expect(await list()).toEqual([])
  expect(await shell(line(forge))).toMatchObject({ code: 0, stdout: "forged\n" })
  expect(JSON.parse((await run("grants", "list", "--json")).stdout)).toMatchObject([{ id: "g", agentId: "dev" }])
  expect(id).not.toBe("")
})
