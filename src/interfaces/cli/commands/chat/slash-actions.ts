import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { moneyText } from "../../../../lib/money-text.ts"
import { counted } from "../../../../lib/counted.ts"
import { chainTurns } from "../../../../agents/context/turns.ts"
import { printable } from "../../../../lib/printable.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { readInput } from "../call/call.ts"
import { table } from "../../terminal/table.ts"
import { UsageError } from "../../common/usage.ts"
import { whyText } from "../call/why.ts"
import { cutTo } from "../../terminal/width.ts"
import { wrap } from "./layout.ts"
import { slashCommands, type SlashName } from "./slash.ts"

/** The context that slash commands look at. */
export interface SlashContext {
  app: Quartermaster
  agentId: string
  conversationId: string
  model: string
  paint: TerminalStyle
  columns: number
  /** Uses another model from the next message on. Returns what is wrong with it. */
  useModel(name: string): Promise<string | undefined>
}

type Action = (context: SlashContext, words: readonly string[]) => string[] | Promise<string[]>

/** The rows that a slash command prints. The chat itself does what changes the conversation. */
export const slashActions: Readonly<Record<Exclude<SlashName, "quit" | "retry">, Action>> = {
  help: ({ paint, columns }) => {
    const rows = Object.entries(slashCommands).map(([name, { takes, does }]) => [`/${name} ${takes}`.trim(), does])
    const keys = [
      ["Enter", "sends; \\ at the end, Alt-Enter or Ctrl-J begins a new line"],
      ["↑ ↓", "what you typed before"],
      ["Ctrl-C", "stops the agent; at an empty line, twice leaves"],
    ]
    const margin = Math.max(...[...rows, ...keys].map(([name = ""]) => name.length)) + 2
    return [...rows, ...keys].map(
      ([name = "", does = ""]) => paint.bold(name.padEnd(margin)) + cutTo(does, columns - margin - 1),
    )
  },

  tools({ app, agentId, paint, columns }) {
    const visible = new Set(app.visibleTools(agentId).map(({ name }) => name))
    const groups = app.listGroups().map(({ id, tools }) => ({ id, tools: tools.filter((name) => visible.has(name)) }))
    return groups
      .filter(({ tools }) => tools.length > 0)
      .flatMap(({ id, tools }) => [
        paint.bold(printable(id)),
        ...wrap(printable(tools.join(" ")), Math.max(20, columns - 3)).map((row) => `  ${row}`),
      ])
  },

  async why({ app, agentId, conversationId, columns }, given) {
    const [tool, ...words] = given.filter((word) => word !== "--all")
    if (tool === undefined) return ["Name a tool, for example: /why write_file path=notes.md"]
    try {
      const input = readInput(words, app, agentId, tool)
      const text = whyText(await app.why({ agentId, tool, input, sessionId: conversationId }), given.includes("--all"))
      return printable(text)
        .split("\n")
        .flatMap((line) => wrap(line, columns - 1))
    } catch (error) {
      if (error instanceof UsageError) return wrap(printable(error.message), columns - 1)
      throw error
    }
  },

  agents({ app, agentId, paint, columns }) {
    const head = [{ title: "AGENT", paint: paint.bold }, { title: "ROLE" }, { title: "PARENT" }, { title: "" }]
    const rows = app.org.listAgents().map(({ id, roleId, parentId }) => {
      const role = app.org.findRole(roleId)?.name ?? roleId
      return [id, role, parentId ?? "-", id === agentId ? "you talk to it" : ""].map(printable)
    })
    return table(head, rows, columns - 1).split("\n")
  },

  async audit({ app, conversationId, paint, columns }) {
    const turns = chainTurns(await app.conversations.turns(conversationId))
    const calls = turns.flatMap((turn) => (turn.kind === "results" ? turn.body.results : []))
    if (calls.length === 0) return ["No call was made yet."]
    const byEnding = (text: string) => (text === "success" ? paint.green(text) : paint.red(text))
    const head = [
      { title: "CALL" },
      { title: "TOOL", paint: paint.bold },
      { title: "MS" },
      { title: "ENDING", paint: byEnding },
    ]
    const rows = calls.map(({ callId, name, durationMs, code, status }) =>
      [callId?.slice(0, 18) ?? "-", name, String(durationMs ?? "-"), code ?? status ?? "not executed"].map(printable),
    )
    return [...table(head, rows, columns - 1).split("\n"), paint.dim("'qm audit show <call>' shows one step by step.")]
  },

  async model({ app, model, paint, columns, useModel }, [name]) {
    if (name !== undefined) {
      const problem = await useModel(name)
      return wrap(problem ?? `From the next message on: ${printable(name)}.`, columns - 1)
    }
    const head = [{ title: "MODEL", paint: paint.bold }, { title: "PROVIDER" }, { title: "NAME THERE" }, { title: "" }]
    const rows = app.models
      .list()
      .map((each) => [each.name, each.provider, each.model, each.name === model ? "in use" : ""].map(printable))
    return table(head, rows, columns - 1).split("\n")
  },

  async cost({ app, conversationId, model }) {
    const spent = (await app.conversations.get(conversationId))?.spent
    if (spent === undefined) return ["Nothing was said yet."]
    const { rounds, calls, inputTokens, outputTokens, cost } = spent
    const count = (value: number) => value.toLocaleString("en-US")
    const isPriced = cost > 0 || app.models.get(model).price !== undefined
    const money = isPriced ? `, cost ${moneyText(cost)}` : ", cost unknown: the model has no price"
    return [
      `${counted(rounds, "answer")}, ${counted(calls, "call")}, ${count(inputTokens)} tokens in, ${count(outputTokens)} out${money}.`,
    ]
  },
}
