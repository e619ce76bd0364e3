import type { IncomingMessage, ServerResponse } from "node:http"
import type { Plugin } from "vite"
import type { AnswerBody, Me, Refused, Suggestion } from "../../src/interfaces/http/routes/schemas.ts"
import type { Card } from "../../src/approvals/card/schema.ts"
import { cards } from "./cards.ts"
import { chatSide, chatView, conversations, nextPiece } from "./chats.ts"

/*
 * A server made of nothing, for working on the console: `npm run console:dev -- --mock`. It answers as the real one
 * does, and `POST /mock/<what>` makes things happen that other people would: see `happen` below.
 */

interface World {
  cards: Card[]
  signedIn: boolean
  frozen: Me["frozen"]
  streams: Set<ServerResponse>
  ended: Map<string, { code: string; by?: string }>
  sample: boolean
  down: boolean
}

export function mockServer(): Plugin {
  const world: World = {
    cards: cards(Date.now()),
    signedIn: true,
    frozen: [],
    streams: new Set(),
    ended: new Map(),
    sample: false,
    down: false,
  }
  return {
    name: "mock server",
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const url = new URL(request.url ?? "/", "http://mock")
        if (!url.pathname.startsWith("/v1/") && !url.pathname.startsWith("/mock/")) return next()
        void readBody(request).then((body) => answer(world, request, response, url, body))
      })
    },
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function answer(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  body: Record<string, unknown>,
) {
  const json = (value: unknown, status = 200) => {
    response.writeHead(status, { "content-type": status < 400 ? "application/json" : "application/problem+json" })
    response.end(value === undefined ? "" : JSON.stringify(value))
  }
  const problem = (status: number, detail: string, more: object = {}) =>
    json({ type: "about:blank", title: detail, status, detail, ...more }, status)
  const { pathname } = url
  const method = request.method ?? "GET"
  const on = `${method} ${pathname}`

  if (pathname.startsWith("/mock/")) return json(happen(world, pathname.slice(6), body))
  if (world.down) return request.socket.destroy()
  if (on === "POST /v1/session") {
    if (body["link"] === "used") return problem(401, "This link was used already. Make a new one with qm open.")
    world.signedIn = true
    return json({ secret: "mock", expiresAt: Date.now() + 12 * 3_600_000 })
  }
  if (on === "DELETE /v1/session") {
    world.signedIn = false
    return json(undefined, 204)
  }
  if (!world.signedIn) return problem(401, "You are not signed in. Make a link with qm open.")

  const now = Date.now()
  if (on === "GET /v1/me") {
    const me: Me = {
      kind: "person",
      id: "ann",
      name: "Ann Weber",
      roles: ["lead"],
      scopes: ["read", "call", "approve", "manage"],
      now,
      version: "0.1.0",
      workspace: "/home/ann/lantern",
      sample: world.sample,
      pin: false,
      frozen: world.frozen,
      modes: [],
      waiting: world.cards.length,
    }
    return json(me)
  }
  if (on === "GET /v1/events") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
    response.write(": hello\n\n")
    world.streams.add(response)
    return response.on("close", () => world.streams.delete(response))
  }
  if (on === "GET /v1/approvals") return json({ now, items: world.cards, total: world.cards.length })
  const [, stands = ""] = /^\/v1\/approvals\/([^/]+)\/standing$/.exec(pathname) ?? []
  if (stands !== "") {
    const card = world.cards.find(({ callId }) => callId === stands)
    if (card !== undefined) return json({ state: "waiting", card })
    const { code: state = "unknown", by } = world.ended.get(stands) ?? {}
    return json({ state, ...(by === undefined ? {} : { by, name: by, did: "approved" }) })
  }
  const [, id = "", answering] = /^\/v1\/approvals\/([^/]+)(\/answer)?$/.exec(pathname) ?? []
  if (id !== "") {
    const card = world.cards.find(({ callId }) => callId === id)
    const ended = world.ended.get(id)
    if (card === undefined) {
      if (ended === undefined) return problem(404, "No such call waits.", { code: "not_found" })
      return problem(answering === undefined ? 410 : 409, "It no longer waits.", ended)
    }
    return answering === undefined ? json(card) : takeAnswer(world, card, body as unknown as AnswerBody, json, problem)
  }
  if (on === "GET /v1/chains") {
    const found = url.searchParams.get("search") ?? ""
    return json({ items: conversations(now).filter(({ title }) => title.includes(found)) })
  }
  if (on === "GET /v1/agents")
    return json({ items: ["dev", "analyst"].map((agent) => ({ id: agent, status: "active", groups: ["workspace"] })) })
  if (on === "GET /v1/models") return json({ items: [{ name: "local", seesImages: true }] })
  if (/^\/v1\/chains\/[^/]+\/side$/.test(pathname)) return json(chatSide(now))
  if (/^\/v1\/chains\/[^/]+\/view$/.test(pathname))
    return json(chatView(now, world.cards[1]?.callId, world.cards[0]?.callId))
  if (method === "POST" && pathname.startsWith("/v1/chains/")) return json({}, 202)
  if (on === "GET /v1/refused") return json({ items: refused(now), total: refused(now).length })
  if (on === "GET /v1/rules/suggestions") return json({ items: suggestions })
  if (on === "POST /v1/rules") return json({ id: "r1" }, 201)
  if (on === "GET /v1/digest") {
    return json({ since: Number(url.searchParams.get("since")), now, ran: 41, waited: 3, refused: 1, expired: 2 })
  }
  if (method === "DELETE" && pathname.startsWith("/v1/grants/")) return json(undefined, 204)
  if (on === "POST /v1/freeze" || on === "POST /v1/thaw") {
    const agentId = body["agentId"] as string | undefined
    world.frozen = world.frozen.filter((entry) => entry.agentId !== agentId)
    if (on.endsWith("freeze"))
      world.frozen.push({
        by: "Ann Weber",
        at: now,
        ...(agentId === undefined ? {} : { agentId }),
        ...(typeof body["because"] === "string" ? { because: body["because"] } : {}),
      })
    tell(world, "document", { kind: "freeze", id: "f" })
    return json({})
  }
  return problem(404, `The mock has no ${on}.`)
}

function takeAnswer(
  world: World,
  card: Card,
  { revision, answer }: AnswerBody,
  json: (value: unknown, status?: number) => void,
  problem: (status: number, detail: string, more?: object) => void,
) {
  if (revision !== card.revision) return problem(409, "The call changed while you answered.", { code: "changed" })
  const message = { code: "answer_settled", text: "It is done." }
  if (answer.kind === "edit") {
    change(world, card.callId, { input: answer.input, revision: card.revision + 1, editedBy: "Ann Weber", votes: [] })
    return json({ done: false, message })
  }
  end(world, card.callId, { code: "answered", by: "Ann Weber" })
  if (answer.kind === "approve" && card.tool === "run_command") void stream(world, card.callId)
  const remembered = "remember" in answer && answer.remember !== undefined
  json({ done: true, message, ...(remembered ? { grantId: "g1" } : {}) })
}

/** What other people and agents do. */
function happen(world: World, what: string, body: Record<string, unknown>): unknown {
  const id = String(body["callId"] ?? world.cards[0]?.callId)
  if (what === "reset")
    Object.assign(world, { cards: cards(Date.now()), frozen: [], signedIn: true, down: false, sample: false })
  if (what === "empty") Object.assign(world, { cards: [], sample: true })
  if (what === "signout") world.signedIn = false
  if (what === "answered") end(world, id, { code: "answered", by: "Li Wei" })
  if (what === "expired") end(world, id, { code: "expired" })
  if (what === "changed") {
    const card = world.cards.find(({ callId }) => callId === id)
    const input = body["input"] ?? { ...(card?.input as object), timeoutMs: 60000 }
    change(world, id, { revision: (card?.revision ?? 1) + 1, editedBy: "Li Wei", input })
  }
  if (what === "add") {
    const [first] = cards(Date.now())
    if (first !== undefined) world.cards.push({ ...first, callId: `new-${Math.random()}`, alike: `${Math.random()}` })
  }
  if (what === "down") {
    world.down = true
    for (const stream of world.streams) stream.destroy()
  }
  if (what === "up") world.down = false
  if (what === "write") return tell(world, "answer", nextPiece(Number(body["offset"] ?? 73), String(body["text"])))
  tell(world, "call", { callId: id, state: what })
  return { streams: world.streams.size }
}

function end(world: World, id: string, how: { code: string; by?: string }) {
  world.cards = world.cards.filter(({ callId }) => callId !== id)
  world.ended.set(id, how)
  tell(world, "call", { callId: id, state: how.code })
}

function change(world: World, id: string, fields: Partial<Card>) {
  world.cards = world.cards.map((card) => (card.callId === id ? { ...card, ...fields } : card))
  tell(world, "call", { callId: id, state: "waiting" })
}

async function stream(world: World, callId: string) {
  for (const chunk of [
    "added 412 packages in 9s\n",
    "vite v8.3.5 building for production…\n",
    "✓ 214 modules transformed.\n",
  ]) {
    await new Promise((resolve) => setTimeout(resolve, 400))
    tell(world, "output", { callId, chunk })
  }
  tell(world, "call", { callId, state: "ended" })
}

function tell(world: World, event: string, data: object) {
  for (const stream of world.streams) stream.write(`event: ${event}\nid: 1\ndata: ${JSON.stringify(data)}\n\n`)
}

const refused = (now: number): Refused[] => [
  {
    callId: "r-1",
    at: now - 720_000,
    agentId: "dev",
    tool: "write_file",
    summary: ".github/workflows/release.yml",
    code: "protected_path",
    reasons: [{ code: "mock", text: "Protected path. No rule lifts it." }],
    change: [],
  },
  {
    callId: "r-2",
    at: now - 1_720_000,
    agentId: "tester-1",
    tool: "web_search",
    summary: "“vite 8 breaking changes”",
    code: "no_group",
    reasons: [{ code: "mock", text: "Role tester lacks the group network." }],
    change: ["qm roles update tester --add-group network"],
    draft: { allow: "web_search", agent: "tester-1", because: "Looked up release notes." },
  },
]

const suggestions: Suggestion[] = [
  {
    rule: { allow: "edit_file", agent: "dev", touching: ["docs/**"], because: "12 times yes, never no." },
    approvals: 12,
    people: ["Ann Weber"],
    examples: ["docs/HTTP.md", "docs/CONSOLE.md"],
    refusedCompared: 4,
  },
]
