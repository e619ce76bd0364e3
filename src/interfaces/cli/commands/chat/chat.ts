import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { ChainOptions } from "../../../../agents/chain/open-chains.ts"
import type { ToolChainResult } from "../../../../agents/chain/chain-result.ts"
import { chainTurns } from "../../../../agents/context/turns.ts"
import type { ToolChain } from "../../../../agents/chain/tool-chain.ts"
import type { LanguageModel, ModelMessage } from "../../../../agents/models/port.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { printable } from "../../../../lib/printable.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { shortId } from "../agents/agent-tree.ts"
import { onOneLine } from "../../terminal/call-line.ts"
import { cutTo } from "../../terminal/width.ts"
import { AskedAgents } from "./asked-agents.ts"
import { ChatText } from "./chat-text.ts"
import type { InputHistory } from "./history.ts"
import { wrap, type Rows } from "./layout.ts"
import { emptyLine, lineOf, pressKey, type Key, type Line, type LineAction } from "../../../../lib/line-editor.ts"
import { frameMs, liveRows } from "./live-rows.ts"
import { LiveScreen } from "./live-screen.ts"
import type { ShowPicture } from "./picture.ts"
import { completeSlash, readSlash, type Slash } from "./slash.ts"
import { slashActions } from "./slash-actions.ts"
import { TurnView } from "./turn-view.ts"
import type { WaitingCards } from "./waiting-cards.ts"

export interface ChatParts {
  app: Quartermaster
  agentId: string
  model: LanguageModel
  /** The id of the conversation to go on with; a new one if left out. */
  id?: string
  limits: Pick<ChainOptions, "deadlineMs" | "userId">
  output: NodeJS.WriteStream
  paint: TerminalStyle
  showPicture: ShowPicture
  history: InputHistory
  /** Shows what waits for the person, and takes the answer. */
  cards: WaitingCards
  /** Listens to the keyboard; returns a function that stops that. */
  readKeys(onKey: (key: Key) => void): () => void
  /** Stops the process as a shell does for Ctrl-Z, and calls `back` when it goes on. */
  suspend(back: () => void): void
}

/** Time for which the hint that a second Ctrl-C leaves is shown. */
const hintMs = 2000

/** A conversation at a terminal. */
export class Chat {
  readonly #parts: ChatParts
  readonly #screen: LiveScreen
  readonly #view: TurnView
  readonly #text: ChatText
  readonly #asked: AskedAgents
  #chain: ToolChain
  #model: LanguageModel
  #line: Line = emptyLine
  /** Messages sent while the agent works and that it has not read yet. */
  #queued: string[] = []
  /** The message that is sent and not stored yet. */
  #unsent: string | undefined
  #isBusy = false
  #isStopping = false
  #hintUntil = 0
  #stopKeys: () => void = () => {}
  #leave: () => void = () => {}
  #hasLeft = false
  #said = false

  constructor(parts: ChatParts) {
    this.#parts = parts
    this.#model = parts.model
    this.#screen = new LiveScreen(parts.output, () => this.#live())
    this.#text = new ChatText(this.#screen, parts.paint)
    this.#asked = new AskedAgents(parts.app.society, () => this.id)
    const onRequest = (messages: readonly ModelMessage[]) => this.#readQueued(messages)
    this.#view = new TurnView(this.#screen, parts.paint, onRequest, parts.showPicture)
    this.#chain = this.#open(parts.id)
  }

  get id(): string {
    return this.#chain.id
  }

  /** True if anything was said, so that there is something to go on with. */
  get hasBegun(): boolean {
    return this.#said || this.#parts.id !== undefined
  }

  /** True if calls run that the program waits for before it ends. */
  get hasRunningCalls(): boolean {
    return this.#isBusy && this.#view.isRunning && this.#parts.cards.waitingText() === undefined
  }

  /** Ends the turn, also after the person has left. */
  stop(): void {
    this.#isStopping = true
    this.#chain.stop()
  }

  print(rows: readonly string[]): void {
    this.#screen.print(rows)
  }

  /** Talks until the person leaves or the signal aborts. `resumes`: the conversation stopped in the middle. */
  async talk(signal: AbortSignal, resumes: boolean): Promise<void> {
    const { app, output } = this.#parts
    const left = new Promise<void>((resolve) => (this.#leave = resolve))
    const onAbort = () => this.#quit()
    // Not at once: while a window is dragged, the terminal may have another width than the one that is known here.
    const onResize = () => this.#screen.draw()
    const ticking = setInterval(() => this.#tick(), frameMs)
    const stopListening = [
      app.on("TOOL_CALL_OUTPUT", ({ callId, chunk }) => this.#view.addOutput(callId, chunk)),
      app.on("TOOL_CALL_REQUESTED", (event) => event.agentId === this.#parts.agentId && this.#view.callRuns(event)),
      app.on("TOOL_CALL_WAITING", ({ callId }) => {
        this.#view.callWaits(callId)
        void this.#lookForCards()
      }),
      app.on("RUN_STARTED", ({ conversationId }) => conversationId === this.id && this.#printSent()),
      app.on("MESSAGE_SENT", () => void this.#lookForMail()),
      app.on("RUN_ENDED", () => void this.#lookForMail()),
    ]
    signal.addEventListener("abort", onAbort)
    output.on("resize", onResize)
    this.#takeTerminal()
    if (resumes) void this.#run(() => this.#chain.resume())
    else void this.#lookForMail()
    if (signal.aborted) this.#quit()
    await left
    signal.removeEventListener("abort", onAbort)
    output.off("resize", onResize)
    clearInterval(ticking)
    for (const stop of stopListening) stop()
  }

  #takeTerminal(): void {
    this.#stopKeys = this.#parts.readKeys((key) => this.#onKey(key))
    this.#screen.resume()
  }

  #giveTerminal(): void {
    this.#screen.pause()
    this.#stopKeys()
    this.#stopKeys = () => {}
  }

  #suspend(): void {
    this.#giveTerminal()
    this.#parts.suspend(() => this.#takeTerminal())
  }

  #quit(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#parts.cards.close()
    this.#giveTerminal()
    this.#leave()
  }

  #open(id?: string): ToolChain {
    const { app, agentId, limits } = this.#parts
    return app.chain(agentId, {
      durable: true,
      wakes: false,
      id,
      model: this.#model,
      ...limits,
      ...this.#view.callbacks,
    })
  }

  #onKey(key: Key): void {
    const { line, action } = pressKey(this.#line, key, this.#parts.history.entries)
    this.#line = line
    if (action !== undefined) this.#act(action)
    if (action === undefined) this.#hintUntil = 0
    if (this.#line.text === "") void this.#lookForCards()
    this.#screen.draw()
  }

  #act(action: LineAction): void {
    const { text } = this.#line
    if (action === "leave") this.#quit()
    if (action === "clear-screen") this.#screen.clear()
    if (action === "suspend") this.#suspend()
    if (action === "complete") this.#line = lineOf(completeSlash(text) ?? text)
    if (action === "interrupt") this.#interrupt()
    if (action === "submit") this.#submit(text)
  }

  /** Ctrl-C: ends the turn, or empties the line, or leaves at the second time. */
  #interrupt(): void {
    if (this.#line.text !== "") this.#line = emptyLine
    else if (this.#isBusy) this.stop()
    else if (Date.now() < this.#hintUntil) this.#quit()
    else this.#hintUntil = Date.now() + hintMs
  }

  #submit(text: string): void {
    if (text.trim() === "") return this.#parts.cards.showAgain()
    this.#line = emptyLine
    this.#parts.history.add(text)
    const slash = readSlash(text)
    if (slash !== undefined) void this.#runSlash(text, slash)
    else if (this.#isBusy) void this.#steer(text.trim())
    else {
      this.#unsent = text.trim()
      void this.#run(() => this.#chain.run(text.trim()))
    }
  }

  /** Sends text typed at a card that is no answer to the agent; returns a confirmation. */
  #sayAtCard(text: string): string {
    if (readSlash(text) !== undefined) return "Commands work in the chat. Press escape first, then type it."
    const isBusy = this.#isBusy
    this.#submit(text)
    return isBusy ? "The agent reads that when this is answered." : "The agent reads that."
  }

  /** Prints the sent message, which stands in the conversation from now on. */
  #printSent(): void {
    if (this.#unsent !== undefined) this.#text.said(this.#unsent)
    this.#unsent = undefined
  }

  /** Gives back to the input line what could not be said, before what was typed since. */
  #takeBack(text: string): void {
    const { text: typed } = this.#line
    this.#line = lineOf(typed === "" ? text : `${text}\n${typed}`)
    this.#text.say("Your text was not sent. It is in the input line again.")
  }

  async #steer(text: string): Promise<void> {
    this.#queued.push(text)
    await this.#chain.steer(text).catch((error: unknown) => {
      this.#queued = this.#queued.filter((each) => each !== text)
      this.#text.complain(error)
      this.#takeBack(text)
    })
  }

  /** Removes the messages that the model is about to read from the queue. */
  #readQueued(messages: readonly ModelMessage[]): void {
    const said = new Set(messages.flatMap(({ role, content }) => (role === "user" ? [content] : [])))
    for (const text of this.#queued) if (said.has(text)) this.#text.said(text)
    this.#queued = this.#queued.filter((text) => !said.has(text))
  }

  /** Lets the agent work until it has answered, also what was said meanwhile. */
  async #run(work: () => Promise<ToolChainResult>): Promise<void> {
    this.#said = true
    this.#isBusy = true
    this.#isStopping = false
    try {
      let result = await work()
      while (this.#queued.length > 0 && result.status === "completed") result = await this.#chain.resume()
      this.#view.end()
      if (!this.#hasLeft) this.#tellEnd(result)
    } catch (error) {
      this.#view.end()
      this.#text.complain(error)
      if (this.#unsent !== undefined) this.#takeBack(this.#unsent)
      this.#unsent = undefined
    } finally {
      this.#isBusy = false
      this.#parts.cards.close()
      this.#screen.draw()
    }
  }

  #tellEnd(result: ToolChainResult): void {
    for (const text of this.#queued) this.#text.said(text)
    this.#queued = []
    this.#text.ended(result)
  }

  async #runSlash(text: string, slash: Slash): Promise<void> {
    const { app, agentId, paint } = this.#parts
    if ("name" in slash && slash.name === "quit") return this.#quit()
    const title = paint.dim(cutTo(`› ${onOneLine(text)}`, this.#screen.columns - 1))
    if ("problem" in slash) return this.#screen.print(["", title, ...wrap(slash.problem, this.#screen.columns - 1)])
    const { name, words } = slash
    if (name === "quit") return undefined
    try {
      if (name === "retry") return await this.#retry(title)
      const rows = await slashActions[name](
        {
          app,
          agentId,
          conversationId: this.id,
          model: this.#model.name,
          paint,
          columns: this.#screen.columns,
          useModel: async (chosen) => this.#useModel(chosen),
        },
        words,
      )
      // The agent's further text stands apart from it.
      this.#screen.print(["", title, ...rows, ...(this.#isBusy ? [""] : [])])
    } catch (error) {
      this.#text.complain(error)
    }
  }

  /** Asks the model again what it has not answered. */
  async #retry(title: string): Promise<void> {
    const say = (text: string) => this.#screen.print(["", title, ...wrap(text, this.#screen.columns - 1)])
    if (this.#isBusy) return say("The agent works. Stop it with Ctrl-C first.")
    const last = chainTurns(await this.#parts.app.conversations.turns(this.id)).at(-1)
    if (last?.kind !== "end" || last.body.status !== "error") return say("The model has not failed. Say something.")
    this.#screen.print(["", title, ""])
    await this.#run(() => this.#chain.resume())
  }

  #useModel(name: string): string | undefined {
    if (this.#isBusy) return "The agent works. Wait until it has answered, or stop it with Ctrl-C."
    try {
      this.#model = this.#parts.app.models.get(name)
      this.#chain = this.#open(this.id)
      return undefined
    } catch (error) {
      return printable(errorMessage(error))
    }
  }

  /** Shows what waits for the person. Only at an empty line, so that no typed text answers it. */
  async #lookForCards(): Promise<void> {
    const { cards } = this.#parts
    if ((!this.#isBusy && this.#asked.awaited.length === 0) || this.#hasLeft) return
    await cards.look(this.id, {
      mayShow: () => this.#line.text === "" && !this.#line.pasting && !this.#hasLeft,
      before: () => this.#giveTerminal(),
      after: () => {
        if (!this.#hasLeft) this.#takeTerminal()
      },
      interrupt: () => this.stop(),
      listener: { takeText: (text) => this.#sayAtCard(text), keep: (text) => void (this.#line = lineOf(text)) },
    })
    this.#screen.draw()
  }

  /** Answers of other agents begin a run of their own, unless one works: then it reads them itself. */
  async #lookForMail(): Promise<void> {
    if (this.#hasLeft || !this.hasBegun) return
    try {
      if (!(await this.#asked.haveAnswered()) || this.#isBusy || this.#hasLeft) return
      this.#screen.print(["", this.#parts.paint.dim("↳ Another agent has answered.")])
      void this.#run(() => this.#chain.resume())
    } catch (error) {
      this.#text.complain(error)
    }
  }

  #ticks = 0

  #tick(): void {
    if (this.#asked.awaited.length > 0 && this.#ticks % 8 === 4) void this.#lookForMail()
    if (!this.#isBusy && this.#hintUntil === 0 && this.#asked.awaited.length === 0) return
    if (this.#hintUntil !== 0 && Date.now() > this.#hintUntil) this.#hintUntil = 0
    if (this.#ticks++ % 8 === 0) void this.#lookForCards()
    this.#screen.draw()
  }

  #live(): Rows {
    const { cards, output, paint } = this.#parts
    const { what, ms } = this.#view.doing
    return liveRows(
      {
        line: this.#line,
        turn: this.#view.rows(),
        queued: this.#queued,
        waiting: cards.waitingText(),
        busy: this.#isBusy ? { doing: this.#isStopping ? "stopping" : what, ms } : undefined,
        awaits: this.#asked.awaited.map(shortId),
        leavesNext: this.#hintUntil > 0,
      },
      { columns: this.#screen.columns, height: output.rows || 24, paint },
    )
  }
}
