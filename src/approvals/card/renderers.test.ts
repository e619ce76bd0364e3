import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { expect, onTestFinished, test } from "vitest"
import type { PendingItem } from "../../core/approval.ts"
import { silentLogger } from "../../core/logger.ts"
import { cardHtml } from "../../interfaces/http/pages/answer-card.ts"
import { wordsFor } from "../../messages/answer-page.ts"
import { serving } from "../../interfaces/http/routes/testing.ts"
import { elicitationFor } from "../../interfaces/mcp/elicitation-forms.ts"
import { cardLines } from "../ask/card.ts"
import { textAdapter } from "../ask/chat.ts"
import { samplePendingItem } from "../ask/testing.ts"
import { notifier } from "../notify.ts"
import type { Card } from "./schema.ts"

type Renderer = (item: PendingItem, card: Card) => string | Promise<string>

const renderers: Record<string, Renderer> = {
  "the console's JSON": (_, { risk, title }) => `${risk.band} risk: ${title.text}`,
  "the page without script": (_, card) => cardHtml(card, wordsFor("en", null), card.createdAt).text,
  "the terminal": (item) => cardLines(item).join("\n"),
  "the MCP client": (item) => elicitationFor(item).message,
  "the chat": (item) =>
    new Promise((post) => {
      const signal = new AbortController().signal
      const adapter = textAdapter({ post, replies: () => new Promise(() => {}) })
      void (item.kind === "question"
        ? adapter.showQuestion?.(item.question!, { ...item, signal })
        : item.kind === "result"
          ? adapter.showToolResultApproval(item.tool, item.input, item.result!, { ...item, signal })
          : adapter.showToolExecutionApproval(item.tool, item.description, item.input, item.level, { ...item, signal }))
    }),
  async notification(item) {
    const { address, received } = await listen()
    const notify = notifier([{ webhook: address }], silentLogger)
    notify(item)
    await notify.idle()
    const { risk, title } = JSON.parse(received[0]!) as { risk: string; title: string }
    return `${risk} risk: ${title}`
  },
}

async function listen() {
  const received: string[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part: Buffer) => (body += part.toString()))
    request.on("end", () => {
      received.push(body)
      response.end()
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  onTestFinished(() => void server.close())
  return { received, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test.each([
  ["run_command", { command: "ls && rm -r old" }, "high risk", "Run 2 commands"],
  ["delete_file", { path: "gone.txt" }, "high risk", "Delete gone.txt"],
  ["http_get", { url: "https://api.example/x" }, "medium risk", "GET to api.example"],
  ["write_file", { path: "notes.md", content: "new" }, "medium risk", "Change notes.md"],
  ["change_database", { database: "crm", sql: "drop table x" }, "high risk", "Change the database crm"],
  ["ask_user", { question: "Which?" }, "low risk", "operator asks"],
  ["leak", {}, "medium risk", "Release a result of leak to operator"],
])("all six renderers show the same risk and title of %s", async (name, input, risk, title) => {
  const { app, signIn, workspace } = await serving()
  writeFileSync(join(workspace, "gone.txt"), "12345")
  const { ask } = await signIn("someone", true)
  await app.call({ agentId: "operator", tool: name, input }, { waitMs: 0 })
  const [item] = await app.approvals.list()
  const card = (await ask("GET", `/v1/approvals/${item!.callId}`)).body as Card
  for (const [renderer, render] of Object.entries(renderers)) {
    const shown = await render(item!, card)
    expect(shown.toLowerCase(), renderer).toContain(risk)
    expect(shown, renderer).toContain(title)
  }
})

test("a card whose title names a file with hidden characters shows them, and is not taken for a line of ours", () => {
  const list = [{ kind: "write", what: "a\u202e.txt\nLow risk: Read b" }] as const
  const item = samplePendingItem({ touches: { list, proved: true } })
  for (const shown of [cardLines(item), elicitationFor(item).message.split("\n")]) {
    expect(shown[0]).toMatch(/^Medium risk \(writes\): Change a\\u\{?202e/)
    expect(shown.filter((line) => line.startsWith("Low risk"))).toEqual([])
  }
})
