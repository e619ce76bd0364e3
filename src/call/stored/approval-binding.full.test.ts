import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { isTicket } from "../../core/result.ts"
import type { Touch } from "../../core/touches.ts"
import { deferred, openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import { admin, approvePending, changeRow, leaveWaiting, showPending, expectTicket } from "../testing.ts"

/** The state before a run: the input, the description of the tool, and the file it names. */
interface Seen {
  input: unknown
  description: string
  file: string
}

const plain = z.object({ path: z.string(), n: z.number() })
const wider = plain.extend({ more: z.string().optional() })
const other = z.object({ path: z.string(), amount: z.number() })
const input = { path: "notes.txt", n: 1 }

/** An app in a folder with a file, and a tool that names the file; everything about it can be changed. */
class World {
  readonly system: Quartermaster & { dir: string }
  readonly name: string
  readonly folder: string
  readonly runs: Seen[] = []
  callId = ""
  preview = "as it is"

  private constructor(system: Quartermaster & { dir: string }, folder: string, name: string) {
    this.system = system
    this.folder = folder
    this.name = name
    this.define("Writes a note.")
    this.write("old")
  }

  static async open(): Promise<World> {
    const folder = temporaryFolder()
    const system = await openTestApp({}, { workspace: folder })
    await system.org.createRole({ name: "developer" }, admin)
    for (const id of ["dev", "other"]) await system.org.createAgent({ id, role: "developer" }, admin)
    return new World(system, folder, "probe")
  }

  /** The same app with a tool and a file of its own. */
  another(number: number): World {
    const world = new World(this.system, this.folder, `probe_${number}`)
    world.define("Writes a note.")
    return world
  }

  get input(): typeof input {
    return { ...input, path: `${this.name}.txt` }
  }

  get request() {
    return { agentId: "dev", tool: this.name, input: this.input }
  }

  define(description: string, schema: z.ZodType = plain, touches: Touch["kind"] = "write"): void {
    const probe = tool({
      name: this.name,
      description,
      input: schema as never,
      permission: { level: "sensitive" },
      touches: ({ path }: { path: string }) => [{ kind: touches, what: path }],
      preview: () => this.preview,
      execute: (given: unknown) => this.runs.push({ input: given, description, file: this.read() }),
    })
    this.system.registry.register(probe, { replace: true })
  }

  write(text: string): void {
    writeFileSync(this.#file, text)
  }

  read(): string {
    return existsSync(this.#file) ? readFileSync(this.#file, "utf8") : ""
  }

  removeFile(): void {
    rmSync(this.#file)
  }

  row(change: Parameters<typeof changeRow>[2]): Promise<void> {
    return changeRow(this.system.dir, this.callId, change)
  }

  get #file(): string {
    return join(this.folder, `${this.name}.txt`)
  }
}

const asAgent = (request: string, agentId: string) => {
  const stored = JSON.parse(request) as { given: object }
  return JSON.stringify({ ...stored, given: { ...stored.given, agentId } })
}

type Change = [what: string, change: (world: World) => unknown, ends: string, shows?: object]

const changes: Change[] = [
  ["the agent it is for", (world) => world.row(() => ({ agent_id: "other" })), "interrupted"],
  [
    "the agent that asked",
    (world) => world.row(({ request }) => ({ request: asAgent(request, "other") })),
    "interrupted",
  ],
  ["its tool", (world) => world.row(() => ({ tool: "set_env" })), "interrupted"],
  [
    "its input",
    (world) => world.row(() => ({ input: JSON.stringify({ ...world.input, n: 2 }) })),
    "back",
    { input: { n: 2 }, note: "ann approved revision 1. Since then its input has changed." },
  ],
  [
    "the tool's description",
    (world) => world.define("Writes more."),
    "back",
    { description: "Writes more.", note: "ann approved revision 1. Since then the tool probe has changed." },
  ],
  ["what the tool takes", (world) => world.define("Writes a note.", wider), "back"],
  [
    "what the tool takes, so that the input no longer fits",
    (world) => world.define("Writes a note.", other),
    "invalid_arguments",
  ],
  ["what the tool touches", (world) => world.define("Writes a note.", plain, "read"), "back"],
  [
    "the file it names",
    (world) => world.write("new"),
    "back",
    { note: "ann approved revision 1. Since then probe.txt has changed." },
  ],
  ["that there is the file it names", (world) => world.removeFile(), "back"],
  [
    "what the approver was shown",
    (world) => void (world.preview = "quite different"),
    "back",
    { preview: "quite different", note: "ann approved revision 1. Since then its preview has changed." },
  ],
  [
    "the reasons to ask, by one more",
    (world) => world.system.rules.add({ ask: "probe", because: "Look twice." }, "ann"),
    "back",
    {
      reasons: [{ check: "rule", sentence: expect.stringContaining("Look twice.") }, { check: "level" }],
      note: expect.stringMatching(
        /^ann approved revision 1\. Since then there is another reason to ask: .*Look twice\.$/,
      ),
    },
  ],
  [
    "the rules, which now deny it",
    (world) => world.system.rules.add({ deny: "probe", args: { "/n": "1" }, because: "No." }, "ann"),
    "permission_denied",
  ],
  [
    "the rules, which now hide the tool",
    (world) => world.system.rules.add({ deny: "probe", because: "No." }, "ann"),
    "tool_not_available",
  ],
  [
    "the groups of its agent's role",
    (world) => world.system.org.updateRole("developer", { toolGroups: ["data"] }, admin),
    "tool_not_available",
  ],
  ["its agent, which is frozen", (world) => world.system.freeze({ agentId: "dev", by: "ann" }), "frozen"],
  ["its agent, which is ended", (world) => world.system.org.terminateAgent("dev", admin), "aborted"],
]

test.each(changes)("law 3: an approval is void if %s has changed before it is used", async (...change) => {
  const [, make, ends, shows = {}] = change
  const world = await World.open()
  const { system } = world
  world.callId = (await leaveWaiting(system, world.request)).callId
  await approvePending(system, world.callId)
  await make(world)
  const ended = await system.resume(world.callId, { waitMs: 0 })
  expect(isTicket(ended) ? "back" : ended.code).toBe(ends)
  expect(world.runs).toEqual([])
  if (ends !== "back") return
  expect(await showPending(system, world.callId)).toMatchObject({ revision: 2, votes: [], ...shows })
  expect(await system.approvals.answer(world.callId, { kind: "approve" }, "ann", 1)).toMatchObject({ ok: false })
  await approvePending(system, world.callId)
  expect(await system.resume(world.callId)).toMatchObject({ callId: world.callId, success: true })
  expect(world.runs).toHaveLength(1)
})

// The process that has a call holds its request in memory, so that nothing can change it.
test.each(changes.filter(([what]) => what !== "the agent that asked"))(
  "law 3: a call that waits in this process notices too when somebody has changed %s",
  async (...change) => {
    const [, make, ends, shows = {}] = change
    const world = await World.open()
    const { system } = world
    const call = system.call(world.request)
    await until(async () => (await system.approvals.list()).length === 1, "the call waits")
    world.callId = (await system.approvals.list())[0]!.callId
    await make(world)
    const result = await system.approvals.answer(world.callId, { kind: "approve" }, "ann", 1)
    expect(result.ok || ends === "aborted").toBe(true)
    if (ends !== "back") {
      expect(await call).toMatchObject({ code: ends })
      expect(world.runs).toEqual([])
      return
    }
    await until(async () => (await system.approvals.show(world.callId))?.revision === 2, "it came back")
    expect(await showPending(system, world.callId)).toMatchObject({ votes: [], ...shows })
    expect(world.runs).toEqual([])
    await approvePending(system, world.callId)
    expect(await call).toMatchObject({ success: true })
    expect(world.runs).toHaveLength(1)
  },
)

test("law 3: if nothing has changed the approval is used once, however many redeem it at the same moment", async () => {
  const world = await World.open()
  const { system } = world
  const { callId } = await leaveWaiting(system, world.request)
  await approvePending(system, callId)
  const same = system.call(world.request, { waitMs: 5000 })
  expect(await Promise.all([system.resume(callId), system.resume(callId)])).toMatchObject([
    { callId, success: true },
    { callId, success: true },
  ])
  expect(world.runs).toEqual([{ input: world.input, description: "Writes a note.", file: "old" }])
  // A caller that makes the same call shares the approval, or comes after it was used and asks anew.
  const shared = await same
  expect(isTicket(shared) ? shared.callId !== callId : shared.success && shared.callId === callId).toBe(true)
  expect(await system.resume(callId)).toMatchObject({ callId, success: true })
  expect(world.runs).toHaveLength(1)
  expect(isTicket(await system.call(world.request, { waitMs: 0 }))).toBe(true)
})

test("law 3: if nothing has changed the same call uses the approval", async () => {
  const world = await World.open()
  const { callId } = await leaveWaiting(world.system, world.request)
  await approvePending(world.system, callId)
  expect(await world.system.call(world.request)).toMatchObject({ callId, success: true })
  expect(world.runs).toHaveLength(1)
  expect(await world.system.resume(callId)).toMatchObject({ callId, success: true })
  expect(world.runs).toHaveLength(1)
})

test("law 3: an approval is void after ten minutes, for resume and for the same call", async () => {
  const world = await World.open()
  const { system } = world
  for (const redeem of ["resume", "call"] as const) {
    world.callId = (await leaveWaiting(system, world.request)).callId
    await approvePending(system, world.callId)
    const at = Date.now() - 10 * 60_000 - 1
    await world.row(({ answer }) => ({ answer: JSON.stringify({ ...JSON.parse(answer), at }) }))
    const ended = redeem === "call" ? system.call(world.request) : system.resume(world.callId)
    expect(await ended).toMatchObject({ callId: world.callId, code: "approval_expired" })
  }
  expect(world.runs).toEqual([])
})

test("law 3: an approval that is older than ten minutes when its process reads it is void too", async () => {
  const world = await World.open()
  const call = world.system.call(world.request)
  await until(async () => (await world.system.approvals.list()).length === 1, "the call waits")
  world.callId = (await world.system.approvals.list())[0]!.callId
  const answer = JSON.stringify({ approved: true, by: "ann", at: Date.now() - 11 * 60_000 })
  await world.row(() => ({ state: "ready", answer }))
  expect(await call).toMatchObject({ callId: world.callId, code: "approval_expired" })
  expect(world.runs).toEqual([])
})

test("law 3: an approval given in one folder is not used in another", async () => {
  const world = await World.open()
  const { callId } = await leaveWaiting(world.system, world.request)
  await approvePending(world.system, callId)
  await world.system.close()
  const elsewhere = await openTestApp({ data: { dir: world.system.dir } }, { workspace: temporaryFolder() })
  let runs = 0
  const { name } = world
  elsewhere.registry.register(
    tool({ name, input: plain as never, permission: { level: "sensitive" }, execute: () => ++runs }),
  )
  await expect(elsewhere.resume(callId)).rejects.toThrow(`belongs to the folder ${world.folder}`)
  expect(expectTicket(await elsewhere.call(world.request, { waitMs: 0 })).callId).not.toBe(callId)
  expect(runs).toBe(0)
})

test("a call that waits for a permit does not run if its agent was frozen or ended meanwhile", async () => {
  const system = await openTestApp({ tools: { maxConcurrent: 1 } })
  await system.org.createAgent({ id: "dev", role: "operator" }, admin)
  await system.org.createAgent({ id: "dan", role: "operator" }, admin)
  const gate = deferred()
  let runs = 0
  let begun = 0
  const busy = tool({ name: "busy", execute: () => (begun++, gate.promise) })
  system.registry.registerMany([busy, tool({ execute: () => ++runs })])
  const first = ["dev", "dan"].map((agentId) => system.call({ agentId, tool: "busy", input: {} }))
  const queued = ["dev", "dan"].map((agentId) => system.call({ agentId, tool: "probe", input: {} }))
  await until(() => begun === 2, "both run")
  await system.freeze({ agentId: "dev", by: "ann" })
  await system.org.terminateAgent("dan", admin)
  gate.resolve()
  expect(await Promise.all([...first, ...queued])).toMatchObject([
    { code: "frozen", metadata: { ran: true } },
    { code: "aborted", metadata: { ran: true } },
    { code: "frozen", metadata: { ran: false } },
    { code: "aborted", metadata: { ran: false } },
  ])
  expect(runs).toBe(0)
})

/* The law as a property: whatever is changed, approved, edited and redeemed, in whatever order. */

const steps = {
  approve: (world) => world.system.approvals.answer(world.callId, { kind: "approve" }, "ann"),
  redeem: (world) => world.system.resume(world.callId, { waitMs: 0 }),
  redeemTwice: (world) => Promise.all([1, 2].map(() => world.system.resume(world.callId, { waitMs: 0 }))),
  callAgain: (world) => world.system.call(world.request, { waitMs: 0 }),
  edit: (world) =>
    world.system.approvals.answer(world.callId, { kind: "edit", input: { ...world.input, n: 5 } }, "bob"),
  editWrong: (world) => world.system.approvals.answer(world.callId, { kind: "edit", input: { n: "no" } }, "bob"),
  input: (world) =>
    world.row(({ state, input: now }) =>
      state === "ended" ? { input: now } : { input: JSON.stringify({ ...world.input, n: 2 }) },
    ),
  inputBack: (world) =>
    world.row(({ state, input: now }) => (state === "ended" ? { input: now } : { input: JSON.stringify(world.input) })),
  agent: (world) => world.row(({ request }) => ({ request: asAgent(request, "other") })),
  agentBack: (world) => world.row(({ request }) => ({ request: asAgent(request, "dev") })),
  description: (world) => world.define("Writes more."),
  descriptionBack: (world) => world.define("Writes a note."),
  schema: (world) => world.define("Writes a note.", wider),
  file: (world) => world.write("new"),
  fileBack: (world) => world.write("old"),
  preview: (world) => void (world.preview += "!"),
  askRule: (world) => world.system.rules.add({ ask: world.name, because: "Look twice." }, "ann"),
  denyRule: (world) => world.system.rules.add({ deny: world.name, args: { "/n": "*" }, because: "No." }, "ann"),
  expire: (world) =>
    world.row(({ answer }) => ({ answer: answer && JSON.stringify({ ...JSON.parse(answer), at: 0 }) })),
} satisfies Record<string, (world: World) => unknown>

type Step = keyof typeof steps
const names = Object.keys(steps) as Step[]
const usual: Step[] = ["approve", "redeem", "callAgain", "edit"]

test("law 3: whatever changes, the tool runs at most once and only with what the newest approval was for", async () => {
  const first = await World.open()
  const met = { ran: 0, back: 0, refused: 0 }
  let number = 0
  const anyStep = fc.oneof(fc.constantFrom(...names), fc.constantFrom(...usual))
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 7 }), async (chosen) => {
      const world = first.another(++number)
      const { system } = world
      world.callId = (await leaveWaiting(system, world.request)).callId
      const cards = new Map<number, Seen & { reasons: string }>()
      const look = async () => {
        const item = await system.approvals.show(world.callId)
        if (item === undefined || cards.has(item.revision)) return item
        const reasons = JSON.stringify(item.reasons)
        cards.set(item.revision, { input: item.input, description: item.description, file: world.read(), reasons })
        return item
      }
      let agreed: number | undefined
      let asks = false
      let denied = false
      const take = async (step: Step): Promise<void> => {
        const before = await look()
        const ran = world.runs.length
        const said = await steps[step](world)
        if (step === "approve" && (said as { ok: boolean }).ok) agreed = before?.revision
        asks ||= step === "askRule"
        denied ||= step === "denyRule"
        if (world.runs.length > ran) {
          expect(denied).toBe(false)
          expect(asks).toBe(cards.get(agreed!)!.reasons.includes("Look twice."))
          const { reasons: _reasons, ...card } = cards.get(agreed!)!
          expect(world.runs).toEqual([card])
        }
        const after = await look()
        if (after !== undefined && after.revision !== before?.revision) met.back++
      }
      for (const step of chosen) await take(step)
      // Left alone it comes to an end: agreed to and run, or refused.
      for (let again = 0; again < 3; again++) for (const step of ["approve", "redeem"] as const) await take(step)
      const ended = await system.resume(world.callId, { waitMs: 0 })
      expect(isTicket(ended)).toBe(false)
      expect(world.runs).toHaveLength(isTicket(ended) || !ended.success ? 0 : 1)
      met[world.runs.length === 1 ? "ran" : "refused"]++
    }),
    { numRuns: 100, examples: [[[]], [["approve", "file", "redeem", "approve", "redeem"]], [["approve", "denyRule"]]] },
  )
  expect(met).toEqual({ ran: expect.any(Number), back: expect.any(Number), refused: expect.any(Number) })
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(0)
})
