import { getEventListeners } from "node:events"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Permit } from "./ports.ts"
import type { ToolContext } from "../../core/tool.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { AgentPermits } from "./permits.ts"

interface Call {
  id: string
  exclusive: boolean
  /** Takes no permit and may have calls below it. */
  free: boolean
  ancestors: readonly string[]
  state: "waiting" | "running" | "over" | "cancelled"
  controller: AbortController
  permit?: Permit
  error?: unknown
}

/** Calls of one agent at a gate, and everything seen to go wrong there. */
class Scene {
  readonly calls: Call[] = []
  /** In the order they began. */
  readonly began: Call[] = []
  readonly wrong: string[] = []
  readonly #permits: AgentPermits
  readonly #most: number

  constructor(most: number) {
    this.#most = most
    this.#permits = new AgentPermits(most)
  }

  start({ exclusive = false, free = false, parent }: { exclusive?: boolean; free?: boolean; parent?: Call }): Call {
    const ancestors = parent === undefined ? [] : [parent.id, ...parent.ancestors]
    const call: Call = {
      id: `c${this.calls.length}`,
      exclusive,
      free,
      ancestors,
      state: "waiting",
      controller: new AbortController(),
    }
    this.calls.push(call)
    const asked = this.#permits.acquire({
      agentId: "a",
      callId: call.id,
      exclusive,
      free,
      parentCallIds: ancestors,
      signal: call.controller.signal,
    })
    if (!(asked instanceof Promise)) this.#begin(call, asked)
    else asked.then((permit) => this.#begin(call, permit)).catch((error: unknown) => (call.error = error))
    return call
  }

  finish(call: Call): void {
    call.state = "over"
    call.permit?.release()
  }

  cancel(call: Call): void {
    call.state = "cancelled"
    call.controller.abort()
  }

  in(state: Call["state"]): Call[] {
    return this.calls.filter((call) => call.state === state)
  }

  /** Calls that nothing below keeps from ending. */
  finishable(): Call[] {
    return this.in("running").filter((call) => !this.#live().some((other) => other.ancestors.includes(call.id)))
  }

  /** Lets all waiting calls continue. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }

  #live(): Call[] {
    return this.calls.filter(({ state }) => state === "waiting" || state === "running")
  }

  #begin(call: Call, permit: Permit): void {
    if (call.state !== "waiting") this.wrong.push(`${call.id} began when it was ${call.state}`)
    const others = this.in("running").filter(({ id }) => !call.ancestors.includes(id))
    for (const other of others) {
      const blocked = this.in("waiting").some((waiter) => waiter.ancestors.includes(other.id))
      if (other.exclusive) this.wrong.push(`${call.id} began beside ${other.id}, which is exclusive`)
      else if (call.exclusive && !blocked) this.wrong.push(`${call.id} is exclusive and began beside ${other.id}`)
    }
    call.state = "running"
    call.permit = permit
    this.began.push(call)
    const taken = this.in("running").filter(({ free }) => !free).length
    if (taken > this.#most) this.wrong.push(`${taken} permits were taken, more than ${this.#most}`)
  }
}

const some = fc.nat({ max: 1000 })
const someStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("start" as const),
      exclusive: fc.boolean(),
      free: fc.boolean(),
      below: fc.option(some, { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("finish" as const), which: some }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("cancel" as const), which: some }) },
)
const someSchedule = fc.record({ most: fc.integer({ min: 1, max: 3 }), steps: fc.array(someStep, { maxLength: 40 }) })

type Schedule = typeof someSchedule extends fc.Arbitrary<infer T> ? T : never

const pick = <T>(list: readonly T[], number: number): T | undefined => list[number % Math.max(1, list.length)]

async function play({ most, steps }: Schedule): Promise<Scene> {
  const scene = new Scene(most)
  for (const step of steps) {
    if (step.act === "start") {
      const composites = scene.in("running").filter(({ free }) => free)
      scene.start({ ...step, parent: step.below === undefined ? undefined : pick(composites, step.below) })
    } else {
      const call = pick(step.act === "finish" ? scene.finishable() : scene.in("waiting"), step.which)
      if (call !== undefined) scene[step.act](call)
    }
    await scene.settle()
  }
  return scene
}

/** Ends whatever can end until nothing is left that could. */
async function playOut(scene: Scene): Promise<void> {
  for (let call = scene.finishable()[0]; call !== undefined; call = scene.finishable()[0]) {
    scene.finish(call)
    await scene.settle()
  }
}

test("law: never more permits than the limit, and an exclusive call runs alone", async () => {
  await fc.assert(
    fc.asyncProperty(someSchedule, async (schedule) => {
      const scene = await play(schedule)
      await playOut(scene)
      expect(scene.wrong).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test("law: every waiter is served or cancelled in the end, and no signal keeps a listener", async () => {
  await fc.assert(
    fc.asyncProperty(someSchedule, async (schedule) => {
      const scene = await play(schedule)
      await playOut(scene)
      expect(scene.in("waiting").map(({ id }) => id)).toEqual([])
      for (const call of scene.calls) {
        expect(getEventListeners(call.controller.signal, "abort")).toEqual([])
        expect(scene.began.includes(call)).toBe(call.state === "over")
        if (call.state === "cancelled") expect(call.error).toMatchObject({ name: "Ending", code: "aborted" })
      }
    }),
    { numRuns: 500 },
  )
})

test("law: calls that need a permit begin in the order they came; only calls below another one overtake", async () => {
  await fc.assert(
    fc.asyncProperty(someSchedule, async (schedule) => {
      const scene = await play(schedule)
      await playOut(scene)
      const plain = scene.began.filter(({ free, ancestors }) => !free && ancestors.length === 0)
      expect(plain.map(({ id }) => id)).toEqual(scene.calls.filter((call) => plain.includes(call)).map(({ id }) => id))
    }),
    { numRuns: 300 },
  )
})

test("agents do not wait for each other", () => {
  const permits = new AgentPermits(1)
  const request = (agentId: string) => ({
    agentId,
    callId: agentId,
    exclusive: true,
    free: false,
    parentCallIds: [],
    signal: undefined,
  })
  expect(permits.acquire(request("a"))).not.toBeInstanceOf(Promise)
  expect(permits.acquire(request("b"))).not.toBeInstanceOf(Promise)
  expect(permits.acquire(request("a"))).toBeInstanceOf(Promise)
})

test("a permit given back twice frees one place only", async () => {
  const scene = new Scene(1)
  const first = scene.start({})
  const [second, third] = [scene.start({}), scene.start({})]
  first.permit?.release()
  first.permit?.release()
  first.state = "over"
  await scene.settle()
  expect([second.state, third.state]).toEqual(["running", "waiting"])
})

test("a call that is cancelled before it asks never gets a permit", async () => {
  const permits = new AgentPermits(1)
  const request = { agentId: "a", callId: "one", exclusive: false, free: false, parentCallIds: [], signal: undefined }
  const held = await permits.acquire(request)
  const signal = AbortSignal.abort()
  await expect(permits.acquire({ ...request, callId: "two", signal })).rejects.toMatchObject({ code: "aborted" })
  expect(getEventListeners(signal, "abort")).toEqual([])
  held.release()
  expect(permits.acquire({ ...request, callId: "three" })).not.toBeInstanceOf(Promise)
})

test("cancelling the exclusive call everyone waits for lets the others go on", async () => {
  const scene = new Scene(3)
  const first = scene.start({})
  const alone = scene.start({ exclusive: true })
  const [second, third] = [scene.start({}), scene.start({})]
  await scene.settle()
  expect([alone.state, second.state, third.state]).toEqual(["waiting", "waiting", "waiting"])
  scene.cancel(alone)
  await scene.settle()
  expect([first.state, second.state, third.state]).toEqual(["running", "running", "running"])
})

test("a call that takes no permit does not wait for one behind calls that do, but waits behind an exclusive one", async () => {
  const scene = new Scene(1)
  scene.start({})
  const queued = scene.start({})
  expect(scene.start({ free: true }).state).toBe("running")
  const alone = scene.start({ exclusive: true })
  const late = scene.start({ free: true })
  await scene.settle()
  expect([queued.state, alone.state, late.state]).toEqual(["waiting", "waiting", "waiting"])
})

test("a call that waits again lets the exclusive call behind it run", async () => {
  const scene = new Scene(1)
  const composite = scene.start({ free: true })
  const plain = scene.start({})
  const alone = scene.start({ exclusive: true, free: true })
  const below = scene.start({ parent: composite })
  scene.finish(plain)
  await scene.settle()
  expect([alone.state, below.state]).toEqual(["running", "waiting"])
  scene.cancel(below)
  const part = scene.start({ exclusive: true, parent: alone })
  await scene.settle()
  expect(part.state).toBe("waiting")
  const again = scene.start({ parent: composite })
  await scene.settle()
  expect([part.state, again.state]).toEqual(["running", "waiting"])
})

test("two exclusive calls below one exclusive call run one after the other", async () => {
  const scene = new Scene(3)
  const parent = scene.start({ exclusive: true, free: true })
  const one = scene.start({ exclusive: true, parent })
  const other = scene.start({ exclusive: true, parent })
  await scene.settle()
  expect([one.state, other.state]).toEqual(["running", "waiting"])
  scene.finish(one)
  await scene.settle()
  expect(other.state).toBe("running")
})

test("pipelines of one agent whose steps are exclusive finish, and the steps never overlap", async () => {
  const system = await openTestApp()
  let running = 0
  let most = 0
  system.registry.register(
    tool({
      name: "step",
      exclusive: true,
      async execute() {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 1))
        running--
      },
    }),
  )
  system.registry.register(
    tool({
      name: "pipeline",
      kind: "composite",
      timeoutMs: 60_000,
      async execute(_input, context: ToolContext) {
        for (let step = 0; step < 3; step++) await context.call("step", {})
      },
    }),
  )
  const results = await system.callMany(
    Array.from({ length: 4 }, () => ({ agentId: "operator", tool: "pipeline", input: {} })),
  )
  expect(results.map((result) => result.code ?? "success")).toEqual(Array(4).fill("success"))
  expect(most).toBe(1)
})
