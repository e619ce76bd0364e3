import { isDeepStrictEqual } from "node:util"
import type { ToolChainOptions } from "../../../../agents/chain/chain-options.ts"
import type { ModelMessage } from "../../../../agents/models/port.ts"
import { printableJson } from "../../../../lib/printable.ts"
import { imageIn } from "../../../../core/result-image.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import {
  callCard,
  callText,
  durationText,
  endingOf,
  onOneLine,
  ranText,
  retryText,
  type CallEnding,
} from "../../terminal/call-line.ts"
import { cutTo } from "../../terminal/width.ts"
import { paintCard } from "./call-card.ts"
import { AnswerText } from "./answer-text.ts"
import { endOf } from "./layout.ts"
import type { ShowPicture } from "./picture.ts"

/** The screen on which a view prints lasting rows. */
export interface ViewScreen {
  readonly columns: number
  print(rows: readonly string[]): void
  draw(): void
}

type Callbacks = Pick<
  ToolChainOptions,
  | "onToolCallStart"
  | "onToolCallComplete"
  | "onLLMResponseUpdate"
  | "onLLMResponsePart"
  | "onLLMRetry"
  | "onLLMResponseComplete"
  | "onBeforeSendToLLM"
>

const outputRows = 3

/** A call without a result. `since`: since when its tool runs. */
interface OpenCall {
  readonly tool: string
  readonly input: unknown
  readonly text: string
  callId: string | undefined
  since: number | undefined
}

/** Shows what the model says and what its calls do: whole rows are printed, the rest is in the live rows. */
export class TurnView {
  readonly #screen: ViewScreen
  readonly #paint: TerminalStyle
  readonly #answer: AnswerText
  readonly #onRequest: (messages: readonly ModelMessage[]) => void
  readonly #showPicture: ShowPicture
  /** The calls that run or wait, by the model's id. */
  readonly #running = new Map<string, OpenCall>()
  /** The end of what running calls have printed, by our id. */
  readonly #output = new Map<string, string>()
  /** The calls of the last answer that have no result yet, by the model's id. */
  readonly #open = new Set<string>()
  #text = ""
  #thought = ""
  #doing = "thinking"
  #doingSince = Date.now()
  #needsGap = false

  constructor(
    screen: ViewScreen,
    paint: TerminalStyle,
    onRequest: (messages: readonly ModelMessage[]) => void,
    showPicture: ShowPicture = () => undefined,
  ) {
    this.#screen = screen
    this.#paint = paint
    this.#answer = new AnswerText(paint, () => screen.columns)
    this.#onRequest = onRequest
    this.#showPicture = showPicture
  }

  /** True if a call runs or waits. */
  get isRunning(): boolean {
    return this.#running.size > 0
  }

  /** The present activity of the agent, in a word or two, and its duration. The time of calls that wait is nobody's. */
  get doing(): { what: string; ms: number } {
    const started = [...this.#running.values()].flatMap(({ since }) => (since === undefined ? [] : [since]))
    if (started.length > 0)
      return {
        what: started.length === 1 ? "a call runs" : `${started.length} calls run`,
        ms: Date.now() - Math.min(...started),
      }
    if (this.#running.size > 0) return { what: this.#running.size === 1 ? "a call waits" : "calls wait", ms: 0 }
    return { what: this.#doing, ms: Date.now() - this.#doingSince }
  }

  readonly callbacks: Callbacks = {
    onBeforeSendToLLM: (messages) => {
      this.#showUnmade(messages)
      this.#doing = "thinking"
      this.#doingSince = Date.now()
      this.#onRequest(messages)
      return undefined
    },
    onLLMRetry: (_error, waitMs) => this.#do(retryText(waitMs)),
    onLLMResponsePart: (part) => {
      if (part.type === "reasoning") this.#thought += part.text
      if (part.type === "tool-call-start") this.#do(`writing ${onOneLine(part.name)}`)
      this.#screen.draw()
    },
    onLLMResponseUpdate: (text) => this.#addText(text),
    onLLMResponseComplete: ({ calls }) => {
      this.#endThought()
      this.#print(this.#answer.end())
      this.#text = ""
      for (const { id } of calls) this.#open.add(id)
    },
    onToolCallStart: (tool, input, id) => {
      this.#running.set(id, { tool, input, text: callText(tool, input), callId: undefined, since: undefined })
      this.#screen.draw()
    },
    onToolCallComplete: (result, id) => {
      const text = ranText(this.#running.get(id)?.text, result)
      this.#running.delete(id)
      this.#open.delete(id)
      this.#output.delete(result.callId)
      this.#printCard(text, endingOf(result))
      this.#printPicture(result.result)
    },
  }

  /** A tool begins to run, after people have answered what there was to ask. Our id of the call is known from then on. */
  callRuns({ callId, toolName, params }: { callId: string; toolName: string; params: unknown }): void {
    const open = [...this.#running.values()].filter((call) => call.callId === undefined)
    const named = open.filter(({ tool }) => tool === toolName)
    const call = named.find(({ input }) => isDeepStrictEqual(input, params)) ?? named[0]
    if (call === undefined) return
    call.callId = callId
    call.since = Date.now()
  }

  /** A call waits for a person: with its result, if it has run. */
  callWaits(callId: string): void {
    const call = [...this.#running.values()].find((each) => each.callId === callId)
    if (call !== undefined) call.since = undefined
  }

  /** Output of a running tool. Only its end is shown, as long as it runs. */
  addOutput(callId: string, chunk: unknown): void {
    const { text } = Object(chunk) as { text?: unknown }
    const piece = typeof chunk === "string" ? chunk : typeof text === "string" ? text : `${printableJson(chunk)}\n`
    this.#output.set(callId, ((this.#output.get(callId) ?? "") + piece).slice(-4000))
    this.#screen.draw()
  }

  /** The run is over: what was still open is printed or forgotten. */
  end(): void {
    this.#endThought()
    this.#print(this.#answer.end())
    this.#text = ""
    for (const { text } of this.#running.values())
      this.#printCard(text, { kind: "refused", words: "It was stopped, or it goes on waiting." })
    this.#running.clear()
    this.#output.clear()
    this.#open.clear()
  }

  /** The rows that change: the row being written, the thought, the calls that run and the end of their output. */
  rows(): string[] {
    const room = this.#screen.columns - 1
    const { dim } = this.#paint
    const thought = this.#thought === "" ? [] : [dim(`∴ ${endOf(onOneLine(this.#thought), room - 2)}`)]
    const calls = Array.from(this.#running.values(), ({ text, since }) => {
      const took = since === undefined ? 0 : Date.now() - since
      return took < 1000 ? cutTo(`○ ${text}`, room) : `${cutTo(`○ ${text}`, room - 12)} ${dim(durationText(took))}`
    })
    const output = [...this.#output.values()].flatMap((text) => {
      const lines = text.split("\n").filter((line) => line.trim() !== "")
      return lines.slice(-outputRows).map((line) => dim(cutTo(`  │ ${onOneLine(line)}`, room)))
    })
    return [...thought, ...(this.#answer.tail === "" ? [] : [this.#answer.tail]), ...calls, ...output]
  }

  #addText(text: string): void {
    this.#endThought()
    const isContinued = text.startsWith(this.#text)
    if (!isContinued) this.#print([...this.#answer.end(), this.#paint.dim("The answer broke off. It begins again:")])
    const rows = this.#answer.add(isContinued ? text.slice(this.#text.length) : text)
    this.#text = text
    this.#do("writing")
    this.#print(rows)
    this.#screen.draw()
  }

  #do(what: string): void {
    if (what !== this.#doing) this.#doingSince = Date.now()
    this.#doing = what
  }

  /** Of a thought, one row stays. */
  #endThought(): void {
    if (this.#thought.trim() !== "")
      this.#print([this.#paint.dim(cutTo(`∴ ${onOneLine(this.#thought)}`, this.#screen.columns - 1))])
    this.#thought = ""
  }

  #print(rows: readonly string[]): void {
    if (rows.length === 0) return
    this.#screen.print(this.#needsGap ? ["", ...rows] : rows)
    this.#needsGap = false
  }

  #printCard(text: string, ending: CallEnding): void {
    this.#screen.print(paintCard(callCard(text, ending, this.#screen.columns - 1), ending, this.#paint))
    this.#needsGap = true
  }

  #printPicture(value: unknown): void {
    const image = imageIn(value)
    if (image === undefined) return
    const { columns } = this.#screen
    const name = this.#paint.dim(cutTo(pictureText(value), columns - 1))
    this.#screen.print([...(this.#showPicture(image, columns) ?? []), name])
  }

  /** Calls that were answered without being made: their results are in the next request. */
  #showUnmade(messages: readonly ModelMessage[]): void {
    const results = messages.findLast((message) => message.role === "tool")?.content ?? []
    for (const { id, name, output } of results) {
      if (!this.#open.delete(id)) continue
      this.#printCard(onOneLine(name), { kind: "refused", words: onOneLine(output.replace(/^NOT EXECUTED\. /, "")) })
    }
  }
}

/** A picture that a tool took: its size, and the artifact that people open in the console. */
function pictureText(value: unknown): string {
  const { images, width, height } = value as { images?: unknown; width?: unknown; height?: unknown }
  const size = typeof width === "number" && typeof height === "number" ? `, ${width} × ${height} pixels` : ""
  const stored = Array.isArray(images) ? `: ${images.map((one) => onOneLine(String(one))).join(", ")}` : ""
  return `  ▣ picture${size}${stored}`
}
