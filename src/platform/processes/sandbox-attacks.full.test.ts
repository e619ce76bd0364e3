import { execFileSync, spawn } from "node:child_process"
import { createServer, type AddressInfo } from "node:net"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openFiles } from "../files/files.ts"
import { openTestApp } from "../../testing/test-app.ts"
import { findBubblewrap } from "../../testing/shell-app.ts"
import { describeProcesses } from "./processes.contract.ts"
import { openTestProcesses, realTemporaryFolder } from "./testing.ts"

const bubblewrap = findBubblewrap()

test("bubblewrap works here, so that the following tests mean something", () => {
  expect(bubblewrap).toHaveProperty("path")
})

describeProcesses("auto")

/** An app with a workspace, a data folder in it, a folder beside it, a daemon on sockets and one on the network. */
async function scene() {
  const workspace = realTemporaryFolder()
  const outside = realTemporaryFolder()
  const data = join(workspace, ".quartermaster")
  mkdirSync(data)
  writeFileSync(join(data, "person.token"), "the-token")
  writeFileSync(join(outside, "secret"), "the-secret")
  execFileSync("git", ["init", "-q", workspace])
  execFileSync("rm", ["-r", join(workspace, ".git/hooks")])
  const connections: string[] = []
  const listen = async (...address: [string] | [number, string]) => {
    const server = createServer((socket) => {
      connections.push("connected")
      socket.end("daemon")
      socket.on("error", () => {})
    })
    await new Promise<void>((resolve) => server.listen(...(address as [string]), resolve))
    onTestFinished(() => void server.close())
    return server
  }
  await listen(join(workspace, "daemon.sock"))
  const abstract = `qm-test-${process.pid}-${Date.now()}`
  const daemon = spawn("python3", ["-uc", abstractDaemon, abstract], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void daemon.kill("SIGKILL"))
  await once(daemon.stdout, "data")
  daemon.stdout.on("data", (text: Buffer) => {
    if (text.includes("connected")) connections.push("connected")
  })
  const port = ((await listen(0, "127.0.0.1")).address() as AddressInfo).port
  const victim = spawn("sleep", ["600"])
  onTestFinished(() => void victim.kill("SIGKILL"))
  return { workspace, outside, data, connections, abstract, port, victim }
}
/** Node pads the names of abstract sockets, so that other programs cannot use them. */
const abstractDaemon = `import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind("\\0" + sys.argv[1])
s.listen()
print("ready")
while True:
    one = s.accept()[0]
    print("connected")
    one.send(b"daemon")
    one.close()
`
type Scene = Awaited<ReturnType<typeof scene>>

const connect = (address: string) =>
  `python3 - <<'END'\nimport socket,sys\n${address}\ns.settimeout(5)\nsys.exit(0 if s.recv(6) == b"daemon" else 1)\nEND`

/** Each attack, whether it worked as seen from outside, and whether `network: true` allows it. */
const attacks: [string, (scene: Scene) => string, (scene: Scene, exitCode: number) => boolean][] = [
  ["writes outside the workspace", ({ outside }) => `echo bad > ${outside}/made`, ({ outside }) => existsSync(join(outside, "made"))],
  ["reads outside the workspace", ({ outside }) => `grep -q the-secret ${outside}/secret`, (_, code) => code === 0],
  ["reads outside by /proc", ({ outside }) => `grep -q the-secret /proc/$$/root${outside}/secret || grep -q the-secret /proc/1/root${outside}/secret`, (_, code) => code === 0],
  ["reads the data folder", ({ data }) => `grep -q the-token ${data}/person.token`, (_, code) => code === 0],
  ["moves the data folder away", () => "mv .quartermaster gone", ({ data }) => !existsSync(data)],
  ["reads /etc/shadow", () => "grep -q root /etc/shadow", (_, code) => code === 0],
  ["reads our environment", () => `tr '\\0' '\\n' < /proc/${process.pid}/environ | grep -q PATH`, (_, code) => code === 0],
  ["signals a process of the host", ({ victim }) => `kill -9 ${victim.pid}`, ({ victim }, code) => code === 0 || !existsSync(`/proc/${victim.pid}/exe`)],
  ["connects to a socket file in the workspace", ({ workspace }) => connect(`s=socket.socket(socket.AF_UNIX); s.connect("${workspace}/daemon.sock")`), ({ connections }, code) => code === 0 || connections.length > 0],
  ["connects to an abstract socket", ({ abstract }) => connect(`s=socket.socket(socket.AF_UNIX); s.connect("\\0${abstract}")`), ({ connections }, code) => code === 0 || connections.length > 0],
  ["connects to the network", ({ port }) => connect(`s=socket.create_connection(("127.0.0.1", ${port}), 2)`), ({ connections }, code) => code === 0 || connections.length > 0],
  ["makes a hook where there is none", () => "mkdir -p .git/hooks && echo bad > .git/hooks/post-checkout", ({ workspace }) => existsSync(join(workspace, ".git/hooks/post-checkout"))],
  ["makes git run a program", () => "git config core.fsmonitor ./bad", ({ workspace }) => readFileSync(join(workspace, ".git/config"), "utf8").includes("bad")],
  ["leads git to another configuration", () => "mkdir evil && cp -r .git/refs .git/objects evil && printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = \"touch RAN; false\"\\n' > evil/config && echo ../evil > .git/commondir", ({ workspace }) => {
    execFileSync("git", ["status"], { cwd: workspace, stdio: "ignore" })
    return existsSync(join(workspace, "RAN"))
  }],
  ["puts another repository in the place of ours", () => "mv .git old && mkdir .git && printf '[core]\\n\\tfsmonitor = bad\\n' > .git/config", ({ workspace }) => existsSync(join(workspace, "old"))],
] // prettier-ignore

/** Attacks that a guard cannot see in the text, so that only the sandbox stops them. */
const hidden = (line: string) => `eval "$(echo ${Buffer.from(line).toString("base64")} | base64 -d)"`

/** Runs a command and returns its exit code. */
const ways: [string, (command: string, here: Scene) => Promise<number | null>][] = [
  ...(["off", "required"] as const).map((sandbox): (typeof ways)[number] => [
    sandbox,
    async (command, { workspace, data }) => {
      const files = openFiles({ workspace, dataFolder: data })
      const { processes } = openTestProcesses({ sandbox, files, hidden: [data] })
      return (await processes.run({ command, timeoutMs: 15_000 }, {})).exitCode
    },
  ]),
  [
    "run_command in shell mode sandbox, without approval",
    async (command, { workspace, data: dir }) => {
      const org = {
        roles: [{ name: "developer", toolGroups: ["command"] }],
        agents: [{ id: "dev", role: "developer" }],
      }
      const system = await openTestApp({ org, tools: { shell: { mode: "sandbox" } }, data: { dir } }, { workspace })
      const ran = await system.call({ agentId: "dev", tool: "run_command", input: { command: hidden(command), timeoutMs: 15_000 } }) // prettier-ignore
      expect(ran).toMatchObject({ success: true, result: { sandbox: { kind: "bubblewrap", network: false } } })
      return (ran.result as { exitCode: number | null }).exitCode
    },
  ],
]

for (const [what, command, worked] of attacks) {
  test(`a command that ${what} succeeds without the sandbox and never in it`, async () => {
    for (const [way, run] of ways) {
      const here = await scene()
      const exitCode = await run(command(here), here)
      expect({ what, way, worked: worked(here, exitCode ?? -1) }).toEqual({ what, way, worked: way === "off" })
    }
  })
}

test("a command with the network reaches it, but no socket of the host", async () => {
  const here = await scene()
  const { processes } = openTestProcesses({
    sandbox: "required",
    files: openFiles({ workspace: here.workspace, dataFolder: here.data }),
  })
  const run = (command: string) => processes.run({ command, network: true, timeoutMs: 15_000 }, {})
  const address = (text: string) => connect(text)
  expect(await run(address(`s=socket.create_connection(("127.0.0.1", ${here.port}), 2)`))).toMatchObject({
    exitCode: 0,
    sandbox: { network: true },
  })
  const before = here.connections.length
  expect((await run(address(`s=socket.socket(socket.AF_UNIX); s.connect("\\0${here.abstract}")`))).exitCode).not.toBe(0)
  expect(
    (await run(address(`s=socket.socket(socket.AF_UNIX); s.connect("${here.workspace}/daemon.sock")`))).exitCode,
  ).not.toBe(0)
  const pairs = `python3 -c 'import socket; socket.socketpair(); print("stream")
try: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print("datagram")
except PermissionError: print("refused")
try: socket.socket(40, socket.SOCK_STREAM); print("vsock")
except OSError: print("refused")'`
  expect((await run(pairs)).stdout).toBe("stream\nrefused\nrefused\n")
  expect(here.connections.length).toBe(before)
})

test("a command in the sandbox cannot mount, remount, trace or create a namespace", async () => {
  const { processes } = openTestProcesses({ sandbox: "required" })
  const tries = [
    "mount -o remount,rw,bind /usr",
    "mount -t tmpfs x /usr",
    "umount /proc",
    "unshare -Ur true",
    "unshare -m true",
    "chroot / true",
    "mknod x b 8 0",
    "nsenter -t 1 -m true",
    "touch /usr/made",
    "dd if=/dev/sda of=x count=1",
    "setpriv --reuid=1 true",
  ]
  const done = await Promise.all(
    tries.map(async (command) => ({ command, exitCode: (await processes.run({ command }, {})).exitCode })),
  )
  expect(done.filter(({ exitCode }) => exitCode === 0)).toEqual([])
})

test("our own tools do not follow a link that a command created", async () => {
  const { workspace, outside, data } = await scene()
  const files = openFiles({ workspace, dataFolder: data })
  const { processes } = openTestProcesses({ sandbox: "required", files, hidden: [data] })
  await processes.run(
    { command: `ln -s ${outside}/secret link; ln -s ${outside} folder; ln -s .quartermaster/person.token token` },
    {},
  )
  for (const path of ["link", "folder/secret", "token"])
    await expect((async () => files.open(path))()).rejects.toThrow(/./)
  await expect(files.write("folder/made", Buffer.from("bad"))).rejects.toThrow(/./)
  await expect(files.write("link", Buffer.from("bad"))).rejects.toThrow(/./)
  await expect(processes.run({ command: "true", cwd: "folder" }, {})).rejects.toThrow(/./)
  expect(readFileSync(join(outside, "secret"), "utf8")).toBe("the-secret")
  expect(existsSync(join(outside, "made"))).toBe(false)
})

test("a socket pair that could be connected to a daemon is refused", async () => {
  const { processes } = openTestProcesses({ sandbox: "required" })
  const kinds = ["SOCK_STREAM", "SOCK_SEQPACKET", "SOCK_DGRAM", "SOCK_RAW"]
  const script = `import socket
for kind in ${JSON.stringify(kinds)}:
  for more in (0, socket.SOCK_CLOEXEC):
    try: socket.socketpair(socket.AF_UNIX, getattr(socket, kind) | more); print(kind, "made")
    except PermissionError: print(kind, "refused")
`
  const { stdout } = await processes.run({ command: "python3 -", stdin: script }, {})
  const answers = ["made", "made", "refused", "refused"]
  expect(stdout).toBe(kinds.map((kind, index) => `${kind} ${answers[index]}\n`.repeat(2)).join(""))
})
