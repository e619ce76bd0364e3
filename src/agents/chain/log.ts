import type {
  Conversation,
  ConversationChange,
  ConversationClaim,
  Conversations,
  NewTurn,
  Spent,
} from "../../core/conversation.ts"
import { outlineOf } from "../context/outline.ts"
import { chainTurns, treeOf, withoutTakenBack, type ChainTurn } from "../context/turns.ts"

/** The turns of a conversation, in memory or in the store. */
export interface TurnLog {
  readonly id: string
  /** True if the turns survive the process. */
  readonly isStored: boolean
  readonly turns: readonly ChainTurn[]
  readonly spent: Spent
  /** True if calls waited for people when the run began. */
  readonly wasWaiting: boolean
  /** Until when a stored conversation can be resumed. */
  readonly resumableUntil: number | undefined
  /** The conversation at the top of the tree of its current run: itself, unless another conversation led to that run. */
  readonly root: RootConversation
  /**
   * Takes the conversation over for a run. Throws a sentence when another run has it, or when it does not exist and is not
   * to be begun.
   */
  claim(isNew: boolean): Promise<void>
  /** Lets another process take it over. */
  release(): Promise<void>
  /** Reads what others said meanwhile. */
  refresh(): Promise<void>
  /**
   * Notes that the model is asked with all turns of now, so that none of them can be taken back any more. Undefined when
   * others have added turns meanwhile.
   */
  markRead(): Promise<Reading | undefined>
  /** Returns false where a length is given and others have added turns meanwhile: then nothing is written. */
  append(turns: readonly NewTurn[], change?: LogChange): Promise<boolean>
  /** The run is over: whoever wants the conversation waits until it is released. */
  ends(): void
  /** Adds what a person says. Needs no claim. */
  post(turn: NewTurn): Promise<void>
  /** Resolves when somebody else has added a turn, or the signal aborts. */
  waitForTurns(signal: AbortSignal): Promise<void>
}

/** A request to the model, as the log knows it. */
export interface Reading {
  /** The number of turns that the model is given. */
  read: number
  /** Grows with every request of the conversation, in whatever process. */
  attempt: number
  /** The process that asked last ended before there was an answer. */
  interrupted: boolean
  startedBy: string
}

/** The root of a tree of conversations, which share its budget. */
export interface RootConversation {
  readonly id: string
  readonly agentId: string
  /** Returns the usage of the whole tree. */
  spent(): Promise<Spent>
  turns(): Promise<readonly ChainTurn[]>
  post(turn: NewTurn): Promise<void>
}

export type LogChange = Pick<ConversationChange, "state" | "spent" | "reads" | "sends" | "length" | "read">

/** Another process has taken the conversation over. It goes on there. */
export class ClaimLost extends Error {
  constructor(id: string) {
    super(
      `Another process works on conversation ${id}. Try again when its run has ended, or tell it something meanwhile with conversations.tell(id, text, { by }).`,
    )
  }
}

/** Another run of this process works on the conversation. */
class AtWork extends Error {
  constructor(id: string) {
    super(
      `A run of this process works on conversation ${id}. Wait until it has ended, or tell it something with conversations.tell(id, text, { by }).`,
    )
  }
}

export function nothingSpent(): Spent {
  return { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
}

/** Turns that end with the process. */
export function memoryLog(id: string, agentId: string): TurnLog {
  const turns: ChainTurn[] = []
  const done = () => Promise.resolve()
  const append = (more: readonly NewTurn[], { length = turns.length }: LogChange = {}) => {
    const at = Date.now()
    const isNext = length === turns.length
    if (isNext) for (const { kind, body } of more) turns.push({ index: turns.length, at, kind, body } as ChainTurn)
    return Promise.resolve(isNext)
  }
  const spent = nothingSpent()
  const post = async (turn: NewTurn) => void (await append([turn]))
  let attempt = 0
  return {
    id,
    isStored: false,
    turns,
    spent,
    root: { id, agentId, spent: () => Promise.resolve(spent), turns: () => Promise.resolve(turns), post },
    wasWaiting: false,
    resumableUntil: undefined,
    claim: done,
    release: done,
    refresh: done,
    markRead: () => Promise.resolve({ read: turns.length, attempt: ++attempt, interrupted: false, startedBy: agentId }),
    append,
    ends() {},
    post,
    waitForTurns: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  }
}

/** A run that has claimed its conversation. */
interface ClaimedRun {
  /** True if only its end is left to write, so that whoever wants the conversation waits for it. */
  isEnding: boolean
  over: Promise<void>
}

/** The parts of the process that a stored conversation needs. */
export interface LogStore {
  conversations: Conversations
  owner: string
  isAlive(owner: string): boolean | Promise<boolean>
  /** Reports whether an agent has not ended. */
  isActive(agentId: string): boolean
  /** The runs of this process, by their conversation. */
  claimedHere: Map<string, ClaimedRun>
}

/** A conversation that is stored before its first turn. */
export interface StoredLogOptions {
  id: string
  agentId: string
  startedBy: string
  settings(): object
  /** Called with what is stored before a run claims it. Returns the settings that change. */
  goOn?(found: Conversation): object
  resumableMs: number
  /** True if messages may begin it, without a text from a person. */
  beginsWithMail?: boolean
  /** True if its run gives way to another one of this process, instead of waiting for its end. */
  yields?: boolean
  /** The conversation whose agent began this one. */
  parent?: string
}

/** The turns of a stored conversation: an existing one by its id, or a new one. */
export function storedLog(store: LogStore, given: StoredLogOptions): TurnLog {
  const { conversations, owner, claimedHere } = store
  const { id } = given
  const turns: ChainTurn[] = []
  const spent = nothingSpent()
  let wasWaiting = false
  let resumableUntil: number | undefined
  let claim: ConversationClaim | undefined
  let hasTitle = false
  let startedBy = given.startedBy
  let requests = 0
  let isInterrupted = false
  const own = { id, agentId: given.agentId }
  let top = own
  /** The top of a tree. A run whose tree has no live top any more, where nobody could be asked, counts in its own. */
  const topOf = async (root: string) => {
    const found = root === "" || root === id ? undefined : await conversations.get(root)
    if (found === undefined || found.state === "ended" || !store.isActive(found.agentId)) return own
    return { id: found.id, agentId: found.agentId }
  }
  const refresh = async () => {
    // Two may read at once.
    for (const turn of chainTurns(await conversations.turns(id, turns.length))) {
      if (turn.index !== turns.length) continue
      turns.push(turn)
      if (turn.kind === "taken-back") turns.splice(0, turns.length, ...withoutTakenBack(turns))
    }
  }
  const claimStored = async (isNew: boolean) => {
    const known = await conversations.get(id)
    if (known === undefined && !isNew && given.beginsWithMail !== true)
      throw new Error(`There is no stored conversation ${id}. Begin one with run(text).`)
    const found = known ?? (await create(store, given))
    if (found.state === "ended") throw hasEnded(id)
    if (found.agentId !== given.agentId)
      throw new Error(`Conversation ${id} is one of agent ${found.agentId}, not of ${given.agentId}.`)
    if (found.owner !== "" && found.owner !== owner && (await store.isAlive(found.owner))) throw new ClaimLost(id)
    const settings = { ...Object(found.settings), ...given.goOn?.(found) } as object
    claim = await conversations.claim(id, found, owner)
    if (claim === undefined) throw new ClaimLost(id)
    if (JSON.stringify(settings) !== JSON.stringify(found.settings))
      await conversations.append(id, claim, [], { settings })
    Object.assign(spent, found.spent)
    top = await topOf(found.root)
    if (found.root !== "" && top === own) await conversations.append(id, claim, [], { root: "" })
    wasWaiting = found.state === "waiting"
    resumableUntil = Date.now() + given.resumableMs
    await refresh()
    hasTitle = found.title !== ""
    startedBy = found.startedBy
    requests = 0
    isInterrupted =
      found.read > 0 && !turns.slice(found.read).some(({ kind }) => kind === "assistant" || kind === "end")
    const isOver = turns.length === 0 || turns.at(-1)?.kind === "end"
    if (found.state === "paused") await conversations.append(id, claim, [], { state: isOver ? "idle" : "active" })
  }
  let over: () => void = () => {}
  let run: ClaimedRun | undefined
  const setEnding = (isEnding: boolean) => {
    if (run !== undefined) run.isEnding = isEnding
  }
  const leave = () => {
    claimedHere.delete(id)
    over()
  }
  return {
    id,
    isStored: true,
    turns,
    spent,
    get wasWaiting() {
      return wasWaiting
    },
    get resumableUntil() {
      return resumableUntil
    },
    refresh,
    get root() {
      const isOwn = top.id === id
      return {
        ...top,
        spent: () => conversations.spentInTree(top.id),
        turns: async () => (isOwn ? turns : chainTurns(await conversations.turns(top.id))),
        async post(turn: NewTurn) {
          await conversations.post(top.id, turn)
          await refresh()
        },
      }
    },
    async claim(isNew) {
      for (let other = claimedHere.get(id); other !== undefined; other = claimedHere.get(id)) {
        if (given.yields === true) throw new ClaimLost(id)
        if (!other.isEnding) throw new AtWork(id)
        await other.over
      }
      run = { isEnding: false, over: new Promise((resolve) => (over = resolve)) }
      claimedHere.set(id, run)
      await claimStored(isNew).catch((error: unknown) => {
        leave()
        throw error
      })
    },
    async release() {
      const held = claim
      claim = undefined
      try {
        if (held !== undefined) await conversations.append(id, held, [], { owner: "" })
      } finally {
        leave()
      }
    },
    async append(more, change = {}) {
      if (claim === undefined) throw new ClaimLost(id)
      const begins = chainTurns(more).find(({ kind, body }) => kind === "user" && body.begins)
      if (begins !== undefined) {
        const parent = given.parent === undefined ? undefined : await conversations.get(given.parent)
        top = await topOf(treeOf([begins], parent === undefined ? "" : parent.root || parent.id))
      }
      const root = begins === undefined ? {} : { root: top === own ? "" : top.id }
      const isEnd = change.state === "waiting" || more.some(({ kind }) => kind === "end")
      if (isEnd) setEnding(true)
      const outline = outlineOf(more, hasTitle)
      const length = await conversations.append(id, claim, more, { ...outline, ...change, ...root })
      hasTitle ||= length !== undefined && outline.title !== undefined
      await refresh()
      const isLate = length === undefined && change.length !== undefined && turns.length > change.length
      if (length === undefined && !isLate) throw new ClaimLost(id)
      if (isLate) setEnding(false)
      return !isLate
    },
    async markRead() {
      const read = turns.length
      if (!(await this.append([], { read, length: read }))) return undefined
      const interrupted = isInterrupted && requests === 0
      return { read, attempt: (claim?.epoch ?? 0) * 1000 + ++requests, interrupted, startedBy }
    },
    ends: () => setEnding(true),
    async post(turn) {
      if ((await conversations.get(id)) === undefined) await create(store, given)
      if ((await conversations.post(id, turn)) === undefined) throw hasEnded(id)
    },
    async waitForTurns(signal) {
      while (!signal.aborted && turns.length === (await conversations.get(id))?.length)
        await conversations.waitForTurns(id, turns.length, 1000, [signal])
    },
  }
}

async function create({ conversations }: LogStore, given: StoredLogOptions): Promise<Conversation> {
  const { id, agentId, startedBy } = given
  const parent = given.parent === undefined ? undefined : await conversations.get(given.parent)
  if (given.parent !== undefined && parent === undefined)
    throw new Error(`There is no stored conversation ${given.parent}. Begin it with durable: true.`)
  const made = conversations.create({
    id,
    agentId,
    startedBy,
    settings: given.settings(),
    state: "active",
    owner: "",
    epoch: 0,
    spent: nothingSpent(),
    root: parent === undefined ? "" : parent.root || parent.id,
  })
  // Another process may have begun it at the same time.
  return made.catch(async (error: unknown) => {
    const found = await conversations.get(id)
    if (found === undefined) throw error
    return found
  })
}

function hasEnded(id: string): Error {
  return new Error(`Conversation ${id} has ended. Begin a new one.`)
}
