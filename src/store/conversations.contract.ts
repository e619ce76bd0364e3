import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { newId } from "../lib/new-id.ts"
import type { Conversations, NewConversation } from "../core/conversation.ts"
import type { Messages } from "./port.ts"
import { someMessage } from "./testing/messages.ts"

export const nothingSpent = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 }

export function someConversation(more: Partial<NewConversation> = {}): NewConversation {
  return {
    id: newId(),
    agentId: "ann",
    state: "active",
    owner: "one",
    epoch: 0,
    startedBy: "ada",
    settings: { model: "demo" },
    spent: nothingSpent,
    root: "",
    ...more,
  }
}

const said = (text: string) => ({ kind: "user", body: { text } })

/**
 * The contract of every store of conversations. `open` gives a fresh store, a second connection to the same data, as
 * another process would have it, and the messages there.
 */
export function conversationsContract(
  name: string,
  open: () => Promise<[Conversations, Conversations, Messages]>,
): void {
  describe(`the store of conversations: ${name}`, () => {
    test("what was created is read back equal, by every connection", async () => {
      const [store, other] = await open()
      const created = await store.create(someConversation({ settings: { text: "中" } }))
      expect(created).toMatchObject({ state: "active", length: 0 })
      expect(await other.get(created.id)).toEqual(created)
      expect(await other.get("nothing")).toBeUndefined()
      await expect(store.create(someConversation({ id: created.id }))).rejects.toThrow()
    })

    test("of turns that depend on the state, and come at once, exactly one finds the conversation idle", async () => {
      const [store, other] = await open()
      const { id } = await store.create({ ...someConversation(), state: "idle" })
      const tell = (from: typeof store, text: string) =>
        from.post(id, (state) => ({ turn: said(`${text} when ${state}`), state: "active" }))
      await Promise.all(["a", "b", "c", "d"].map((text, place) => tell(place % 2 === 0 ? store : other, text)))
      const texts = (await store.turns(id)).map(({ body }) => (body as { text: string }).text)
      expect(texts.map((text) => text.slice(2))).toEqual(["when idle", "when active", "when active", "when active"])
      expect(await store.get(id)).toMatchObject({ state: "active", length: 4 })
    })

    test("turns get consecutive indexes and are read from any of them", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      expect(await store.append(id, { owner: "one", epoch: 0 }, [said("a"), said("b")])).toBe(2)
      expect(await other.post(id, said("c"))).toBe(3)
      expect((await other.turns(id)).map(({ index, body }) => [index, body])).toEqual([
        [0, { text: "a" }],
        [1, { text: "b" }],
        [2, { text: "c" }],
      ])
      expect((await store.turns(id, 1)).map(({ index }) => index)).toEqual([1, 2])
      expect(await store.turns("nothing")).toEqual([])
    })

    test("a conversation of more than ten thousand turns is read to its end", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      const turns = Array.from({ length: 10_050 }, (_, place) => said(String(place)))
      expect(await store.append(id, { owner: "one", epoch: 0 }, turns)).toBe(10_050)
      expect((await other.turns(id)).at(-1)).toMatchObject({ index: 10_049, body: { text: "10049" } })
    })

    test("turns and the change of the conversation are written together", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      const spent = { ...nothingSpent, rounds: 2, cost: 0.5 }
      await store.append(id, { owner: "one", epoch: 0 }, [said("a")], { state: "waiting", spent, owner: "" })
      expect(await other.get(id)).toMatchObject({ state: "waiting", spent, owner: "", epoch: 0, length: 1 })
      const unreadable = { kind: "user", body: 1n }
      await expect(
        store.append(id, { owner: "", epoch: 0 }, [said("b"), unreadable], { state: "idle" }),
      ).rejects.toThrow()
      expect(await other.get(id)).toMatchObject({ state: "waiting", length: 1 })
    })

    test("turns, read messages and answers are written together, or none of them", async () => {
      const [store, other, messages] = await open()
      const { id } = await store.create(someConversation())
      const asked = someMessage({ to: "ann", target: id })
      const answer = someMessage({ kind: "answer", about: asked.id, from: "ann", to: "bob" })
      await messages.insert(asked)
      const change = { reads: [asked.id], sends: [answer] }
      const unread = async () => (await messages.unreadFor(id, { at: 1, limit: 9 })).length
      expect(await other.append(id, { owner: "two", epoch: 0 }, [said("a")], change)).toBeUndefined()
      const unreadable = { kind: "user", body: 1n }
      await expect(store.append(id, { owner: "one", epoch: 0 }, [unreadable], change)).rejects.toThrow()
      const doubled = { ...change, sends: [{ ...asked, payload: "the same id" }] }
      await expect(store.append(id, { owner: "one", epoch: 0 }, [said("a")], doubled)).rejects.toThrow()
      expect([await unread(), await messages.answerTo(asked.id), await store.turns(id)]).toEqual([1, undefined, []])

      expect(await store.append(id, { owner: "one", epoch: 0 }, [said("a")], change)).toBe(1)
      expect([await unread(), await messages.answerTo(asked.id)]).toEqual([0, answer])
      const second = { ...answer, id: newId(), payload: "once more" }
      expect(await store.append(id, { owner: "one", epoch: 0 }, [said("b")], { sends: [second] })).toBe(2)
      expect(await messages.answerTo(asked.id)).toEqual(answer)
    })

    test.each([
      ["owner", { owner: "two", epoch: 0 }, {}],
      ["epoch", { owner: "one", epoch: 1 }, {}],
      ["length", { owner: "one", epoch: 0 }, { length: 5 }],
    ])("an append with another %s changes nothing", async (_what, claim, change) => {
      const [store] = await open()
      const before = await store.create(someConversation())
      expect(await store.append(before.id, claim, [said("a")], { state: "idle", ...change })).toBeUndefined()
      expect(await store.get(before.id)).toEqual(before)
      expect(await store.turns(before.id)).toEqual([])
    })

    test("who claims it shuts out the one before, and of many claims one wins", async () => {
      const [store, other] = await open()
      await fc.assert(
        fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 8 }), async (who) => {
          const { id } = await store.create(someConversation())
          const claims = await Promise.all(
            who.map((mine, place) => (mine ? store : other).claim(id, { owner: "one", epoch: 0 }, `p${place}`)),
          )
          const winner = claims.findIndex((claim) => claim !== undefined)
          expect(claims.filter((claim) => claim !== undefined)).toEqual([{ owner: `p${winner}`, epoch: 1 }])
          expect(await store.append(id, { owner: "one", epoch: 0 }, [said("late")])).toBeUndefined()
          expect(await store.append(id, claims[winner]!, [said("in time")])).toBe(1)
        }),
        { numRuns: 20 },
      )
    })

    test("turns that several write at once are all there, each with an index of its own", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      const texts = Array.from({ length: 40 }, (_, place) => `t${place}`)
      await Promise.all(texts.map((text, place) => (place % 2 === 0 ? store : other).post(id, said(text))))
      const turns = await store.turns(id)
      expect(turns.map(({ index }) => index)).toEqual(texts.map((_, place) => place))
      expect(turns.map(({ body }) => (body as { text: string }).text).toSorted()).toEqual(texts.toSorted())
    })

    test("nothing is added to an ended conversation, and it cannot be claimed", async () => {
      const [store] = await open()
      const { id } = await store.create(someConversation())
      await store.append(id, { owner: "one", epoch: 0 }, [said("bye")], { state: "ended" })
      expect(await store.post(id, said("more"))).toBeUndefined()
      expect(await store.append(id, { owner: "one", epoch: 0 }, [said("more")])).toBeUndefined()
      expect(await store.claim(id, { owner: "one", epoch: 0 }, "two")).toBeUndefined()
      expect(await store.turns(id)).toHaveLength(1)
    })

    test("pages of a list hold each conversation once, newest first", async () => {
      const [store] = await open()
      const made: string[] = []
      for (let place = 0; place < 7; place++) {
        const { id } = await store.create(someConversation({ agentId: place % 2 === 0 ? "even" : "odd" }))
        made.unshift(id)
      }
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await store.list({ limit: 3, cursor })
        seen.push(...page.conversations.map(({ id }) => id))
        cursor = page.cursor
      } while (cursor !== undefined)
      expect(seen.toSorted()).toEqual(made.toSorted())
      expect((await store.list({ agentId: "odd" })).conversations).toHaveLength(3)
      expect((await store.list({ states: ["ended"] })).conversations).toEqual([])
      expect((await store.list({ cursor: "not one of ours" })).conversations).toHaveLength(7)
    })

    test("pages go on where they ended while conversations are used, and the one used last is first", async () => {
      const [store, other] = await open()
      const made = []
      for (let place = 0; place < 6; place++) {
        const { id, updatedAt } = await store.create(someConversation())
        await waitUntilAfter(updatedAt)
        made.push(id)
      }
      const first = await store.list({ limit: 3 })
      expect(first.conversations.map(({ id }) => id)).toEqual(made.slice(3).toReversed())
      await other.post(made[5]!, said("again"))
      const second = await store.list({ limit: 3, cursor: first.cursor })
      expect(second.conversations.map(({ id }) => id)).toEqual(made.slice(0, 3).toReversed())
      await waitUntilAfter((await store.get(made[5]!))!.updatedAt)
      await other.post(made[0]!, said("again"))
      expect((await store.list({ limit: 1 })).conversations[0]).toMatchObject({ id: made[0] })
    })

    test.each<[string, Partial<NewConversation>, string]>([
      ["a run works", { state: "active" }, "working"],
      ["calls wait", { state: "waiting" }, "waiting"],
      ["it was answered", { state: "idle", ending: "completed" }, "done"],
      ["nothing was said", { state: "idle" }, "done"],
      ["the model failed", { state: "idle", ending: "error" }, "failed"],
      ["a person stopped it", { state: "idle", ending: "aborted" }, "stopped"],
      ["it reached a limit", { state: "ended", ending: "limit" }, "stopped"],
      ["it stands still", { state: "paused", ending: "completed" }, "stopped"],
    ])("a list shows where a conversation stands: %s", async (_when, given, shown) => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation(given))
      expect((await other.list({ id })).conversations).toMatchObject([{ id, shown }])
      expect((await other.list({ shown: shown as "done" })).conversations).toHaveLength(1)
      const rest = (["working", "waiting", "done", "stopped", "failed"] as const).filter((each) => each !== shown)
      for (const each of rest) expect((await other.list({ shown: each })).conversations).toEqual([])
    })

    test("a list has those of one person, outside the society, that hold a text, with the cost of their tree", async () => {
      const [store] = await open()
      const spent = { ...nothingSpent, cost: 1.5 }
      const one = await store.create(someConversation({ title: "Äpfel zählen", preview: "50% of a_b", spent }))
      await store.create(someConversation({ root: one.id, spent, startedBy: "bob" }))
      await store.create(someConversation({ id: "society-1", title: "Äpfel" }))
      const found = async (filter: Parameters<typeof store.list>[0]) =>
        (await store.list(filter)).conversations.map(({ id }) => id)
      expect(await found({ startedBy: "ada", notPrefix: "society-" })).toEqual([one.id])
      expect((await found({ search: "äPFEL" })).toSorted()).toEqual([one.id, "society-1"].toSorted())
      expect([await found({ search: "50% OF A_B" }), await found({ search: "_______" })]).toEqual([[one.id], []])
      expect(await found({ search: "ANN" })).toHaveLength(3)
      expect((await store.list({ id: one.id })).conversations[0]?.cost).toBe(3)
    })

    test("titles, endings and what was read are written with turns, and found", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      const change = { title: "Tests", preview: "They fail.", ending: "completed", read: 1, state: "idle" } as const
      await store.append(id, { owner: "one", epoch: 0 }, [said("a")], change)
      expect(await other.get(id)).toMatchObject(change)
      await other.post(id, (state) => ({ turn: said("b"), state, preview: "b" }))
      expect((await store.list({ search: "tests\nb" })).conversations).toMatchObject([{ id, ending: "completed" }])
    })

    test("a turn that depends on what was read is written only where that still holds", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      await other.post(id, said("steer"))
      const takeBack = () =>
        other.post(id, (state, { read }) => (read > 0 ? undefined : { turn: { kind: "taken", body: {} }, state }))
      const markRead = () => store.append(id, { owner: "one", epoch: 0 }, [], { read: 1, length: 1 })
      const [taken, read] = await Promise.all([takeBack(), markRead()])
      expect([taken === undefined, read === undefined].toSorted()).toEqual([false, true])
      expect(await store.turns(id)).toHaveLength(taken === undefined ? 1 : 2)
    })

    test("a new title or other settings need no claim, and do not count as use", async () => {
      const [store, other] = await open()
      const before = await store.create(someConversation({ owner: "one", epoch: 3 }))
      await waitUntilAfter(before.updatedAt)
      const revised = await other.revise(before.id, ({ settings }) => ({
        title: "New",
        settings: { ...(settings as object), model: "other" },
      }))
      expect(revised).toEqual({ ...before, title: "New", settings: { model: "other" } })
      expect(await store.get(before.id)).toEqual(revised)
      expect((await store.list({ search: "new" })).conversations).toHaveLength(1)
      expect(await store.revise("nothing", () => ({}))).toBeUndefined()
    })

    test("a branch knows where it begins, and is found from there", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      const branch = await store.create(someConversation({ branchOf: { id, index: 4 } }))
      expect(await other.get(branch.id)).toEqual(branch)
      expect((await other.list({ branchOf: id })).conversations).toMatchObject([{ id: branch.id }])
    })

    test("turns are read up to another one", async () => {
      const [store] = await open()
      const { id } = await store.create(someConversation())
      for (const text of ["a", "b", "c", "d"]) await store.post(id, said(text))
      expect((await store.turns(id, 1, 3)).map(({ index }) => index)).toEqual([1, 2])
    })

    test("one conversation is erased whole, and only in the states that are named", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation({ spent: { ...nothingSpent, cost: 1 } }))
      await store.post(id, said("a"))
      expect(await other.eraseOne(id, ["idle", "ended"])).toBe(false)
      expect(await store.turns(id)).toHaveLength(1)
      expect(await other.eraseOne(id, ["active"])).toBe(true)
      expect([await store.get(id), await store.turns(id), await store.spentInTree(id)]).toEqual([
        undefined,
        [],
        nothingSpent,
      ])
      expect((await store.list()).conversations).toEqual([])
      expect(await store.eraseOne(id, ["active"])).toBe(false)
    })

    test("a waiter wakes when another connection adds a turn, and when its signal aborts", async () => {
      const [store, other] = await open()
      const { id } = await store.create(someConversation())
      const woken = store.waitForTurns(id, 0, 60_000)
      await other.post(id, said("a"))
      await woken
      const gone = new AbortController()
      const aborted = store.waitForTurns(id, 1, 60_000, [gone.signal])
      gone.abort()
      await aborted
    })

    test("what a conversation uses counts in the tree of its run at that time, and goes with it", async () => {
      const [store, other] = await open()
      const cost = async (id: string) => (await other.spentInTree(id)).cost
      const [one, two, below] = [
        await store.create(someConversation()),
        await store.create(someConversation()),
        await store.create(someConversation()),
      ]
      const claim = (await store.claim(below.id, below, "process"))!
      const use = (sum: number, root?: string) =>
        store.append(below.id, claim, [], {
          spent: { ...nothingSpent, cost: sum },
          ...(root !== undefined && { root }),
        })
      await use(1, one.id)
      await use(3)
      await use(7, two.id)
      await use(15, "")
      expect([await cost(one.id), await cost(two.id), await cost(below.id)]).toEqual([3, 4, 8])
      expect(await other.get(below.id)).toMatchObject({ root: "", spent: { cost: 15 } })
      await store.erase(Date.now() + 1000)
      expect([await cost(one.id), await cost(two.id), await cost(below.id)]).toEqual([0, 0, 0])
    })

    test("a tree of conversations is summed up from its top", async () => {
      const [store] = await open()
      const spent = (cost: number) => ({ rounds: 1, calls: 2, inputTokens: 30, outputTokens: 4, cost })
      const top = await store.create(someConversation({ spent: spent(1) }))
      for (const cost of [2, 3]) await store.create(someConversation({ spent: spent(cost), root: top.id }))
      await store.create(someConversation({ spent: spent(100) }))
      expect(await store.spentInTree(top.id)).toEqual({
        rounds: 3,
        calls: 6,
        inputTokens: 90,
        outputTokens: 12,
        cost: 6,
      })
      const used = await store.spentByAgent()
      expect(used).toEqual([
        { agentId: "ann", spent: { ...spent(106), rounds: 4, calls: 8, inputTokens: 120, outputTokens: 16 } },
      ])
    })

    test("what models cost since a time is counted by agent, over all its conversations", async () => {
      const [store, other] = await open()
      for (const agentId of ["ann", "ann", "bob"]) {
        const { id } = await store.create(someConversation({ agentId }))
        await store.post(id, { kind: "assistant", body: { cost: 2 } })
        await store.post(id, { kind: "assistant", body: {} })
        await store.post(id, { kind: "user", body: { cost: 50 } })
      }
      const costs = async (at: number) =>
        Object.fromEntries((await other.costSince(at)).map(({ agentId, cost }) => [agentId, cost]))
      expect(await costs(0)).toEqual({ ann: 4, bob: 2 })
      expect(await costs(Date.now() + 60_000)).toEqual({})
    })

    test("what lies below a conversation is found through messages, once for each, also where agents write back", async () => {
      const [store, other, messages] = await open()
      const [top, child, grandchild, stranger] = [
        await store.create(someConversation()),
        await store.create(someConversation({ agentId: "bob", spent: { ...nothingSpent, cost: 2 } })),
        await store.create(someConversation({ agentId: "cid" })),
        await store.create(someConversation()),
      ]
      const links = [
        [top, child],
        [child, grandchild],
        [grandchild, top],
        [grandchild, child],
        [stranger, grandchild],
      ] as const
      for (const [from, to] of links) await messages.insert(someMessage({ conversationId: from.id, target: to.id }))
      await messages.insert(someMessage({ kind: "answer", conversationId: child.id, target: stranger.id }))
      for (const { id } of [top, child, grandchild, stranger]) await store.post(id, said(id))
      await store.post(child.id, { kind: "assistant", body: {} })
      const { turns, sent, waiting } = await other.below(top.id, { row: 0, change: 0 })
      expect(turns.map(({ agentId, kind, spent }) => [agentId, kind, spent.cost])).toEqual([
        ["bob", "user", 2],
        ["cid", "user", 0],
        ["bob", "assistant", 2],
      ])
      expect(sent).toHaveLength(4)
      expect(waiting).toEqual([])
      const later = await other.below(top.id, { row: turns.at(-1)!.row, change: 0 })
      expect(later.turns.map(({ kind }) => kind)).toEqual(["user", "user"])
      expect(await messages.openByAgent()).toEqual([
        { agentId: "ann", to: "bob" },
        { agentId: "bob", to: "bob" },
        { agentId: "cid", to: "bob" },
      ])
      expect(await messages.unreadCounts()).toEqual([{ agentId: "bob", unread: 6 }])
      expect((await other.below(stranger.id, { row: 0, change: 0 })).turns).toHaveLength(4)
    })

    test("conversations that did not change since a time are erased, with their turns and what they had read", async () => {
      const [store, , messages] = await open()
      const old = await store.create(someConversation())
      await store.post(old.id, said("a"))
      const { updatedAt } = (await store.get(old.id))!
      await waitUntilAfter(updatedAt)
      const recent = await store.create(someConversation())
      await store.post(recent.id, said("b"))
      const sent = {
        read: someMessage({ target: old.id }),
        unread: someMessage({ target: old.id }),
        elsewhere: someMessage({ target: recent.id }),
        toUser: someMessage(),
        later: someMessage(),
      }
      for (const message of Object.values(sent)) await messages.insert(message)
      await messages.markRead([sent.read.id, sent.elsewhere.id, sent.toUser.id], updatedAt)
      await messages.markRead([sent.later.id], updatedAt + 1)
      expect(await store.erase(updatedAt + 1)).toBe(1)
      const left = (await messages.inbox("bob", { at: 1 })).map(({ id }) => id)
      expect(left).toEqual([sent.unread.id, sent.elsewhere.id, sent.later.id])
      expect(await store.get(old.id)).toBeUndefined()
      expect(await store.turns(old.id)).toEqual([])
      expect(await store.turns(recent.id)).toHaveLength(1)
    })
  })
}

/** The store's times are whole milliseconds. */
async function waitUntilAfter(at: number): Promise<void> {
  while (Date.now() <= at) await new Promise((resolve) => setTimeout(resolve, 1))
}
