import type { AuditEntryJson, AuditRowJson, Charts } from "../http/routes/audit-schemas.ts"
import type { ChainBody, ChainEventsJson, ConversationJson, ConversationNowJson } from "../http/routes/chain-schemas.ts"
import type { AnswerBody, Answered, AnswerLink, Inbox, Me } from "../http/routes/schemas.ts"
import type { Card } from "../../approvals/card/schema.ts"
import type { CallBody, CallResult, Explanation, Ticket, ToolInfo, WhyBody } from "../http/routes/tool-schemas.ts"
import { askAgain } from "./again.ts"
import { connect, type ClientOptions, type Method, type Sent } from "./connection.ts"
import { eventsOf, type EventsOptions, type ServerEvent } from "./events.ts"

export type { ClientOptions, Method, Sent } from "./connection.ts"
export type { EventsOptions, ServerEvent } from "./events.ts"
export { QuartermasterProblem } from "./problem.ts"
export type { AgentEventJson as AgentEvent, TurnJson as Turn } from "../http/routes/chain-schemas.ts"
export type { Answered, AnswerLink, Inbox, Me, Problem } from "../http/routes/schemas.ts"
export type { Card } from "../../approvals/card/schema.ts"
export type { Message } from "../../messages/message.ts"
export type { CallResult, Explanation, Ticket, ToolInfo } from "../http/routes/tool-schemas.ts"

/** The fields of a call besides its tool and input. */
export type CallOptions = Omit<CallBody, "input" | "wait"> & { signal?: AbortSignal }

export interface AuditFilter {
  agentId?: string
  tool?: string
  taskId?: string
  /** A status or a code. */
  status?: string
  since?: number
  until?: number
}

type Signal = { signal?: AbortSignal }
type Page<T> = { items: T[]; cursor?: string }

export type Client = ReturnType<typeof createClient>

/**
 * A client of the HTTP API (docs/HTTP.md). It needs nothing but `fetch`, so it also works in a browser.
 *
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:7420", token: process.env.QM_TOKEN })
 * const { result } = await client.call("read_page", { url })
 * ```
 */
export function createClient(options: ClientOptions) {
  const connection = connect(options)
  const { json } = connection

  const submit = (tool: string, input: unknown, { signal, wait, ...rest }: CallOptions & { wait?: number } = {}) =>
    json<CallResult | Ticket>("POST", `/v1/tools/${encodeURIComponent(tool)}/call`, {
      body: { ...rest, input, ...(wait === undefined ? {} : { wait }) },
      signal,
    })
  const getCall = (id: string, { wait, signal }: Signal & { wait?: number } = {}) =>
    json<CallResult | Ticket>("GET", `/v1/calls/${encodeURIComponent(id)}`, { query: { wait }, signal })
  const chainPath = (id: string, rest = "") => `/v1/chains/${encodeURIComponent(id)}${rest}`

  return {
    /** Any other endpoint of /openapi.json. */
    request: <T = unknown>(method: Method, path: string, sent: Sent = {}) => json<T>(method, path, sent),
    me: () => json<Me>("GET", "/v1/me"),

    tools: {
      /** The tools of an agent, or all there are. An agent's token sees its own. */
      list: async (filter: { agentId?: string } = {}) =>
        (await json<Page<ToolInfo>>("GET", "/v1/tools", { query: filter })).items,
      get: (name: string, filter: { agentId?: string } = {}) =>
        json<ToolInfo>("GET", `/v1/tools/${encodeURIComponent(name)}`, { query: filter }),
    },

    /**
     * Calls a tool and waits until the call has ended, also while a person decides, and also when the server is started
     * again meanwhile.
     */
    async call(tool: string, input: unknown, given: CallOptions = {}): Promise<CallResult> {
      let ended = await submit(tool, input, { ...given, wait: 60 })
      const { signal } = given
      while (isTicket(ended)) {
        const { callId } = ended
        ended = await askAgain(() => getCall(callId, { wait: 60, signal }), signal)
      }
      return ended
    },
    calls: {
      /** Calls a tool and waits at most `wait` seconds (30), then returns a ticket. */
      submit,
      /** Returns the ending of a call, or a ticket while it waits. */
      get: getCall,
    },
    /** Explains the outcome of a call, check by check, without making it. */
    why: (body: WhyBody) => json<Explanation>("POST", "/v1/why", { body }),

    approvals: {
      list: () => json<Inbox>("GET", "/v1/approvals"),
      get: (id: string) => json<Card>("GET", `/v1/approvals/${encodeURIComponent(id)}`),
      /** Answers a card. The answer counts for the revision that the card shows. */
      answer: ({ callId, revision }: Pick<Card, "callId" | "revision">, answer: AnswerBody["answer"]) =>
        json<Answered>("POST", `/v1/approvals/${encodeURIComponent(callId)}/answer`, { body: { revision, answer } }),
      /** A link that answers it without signing in: as yourself or, with manage, as another person. */
      link: (id: string, body: { person?: string } = {}) =>
        json<AnswerLink>("POST", `/v1/approvals/${encodeURIComponent(id)}/links`, { body }),
    },

    audit: {
      /** Ended calls, newest first. The cursor of one page begins the next. */
      list: (filter: AuditFilter & { limit?: number; cursor?: string } = {}) =>
        json<Page<AuditRowJson>>("GET", "/v1/audit", { query: { ...filter } }),
      /** All entries of one call. */
      show: async (id: string) =>
        (await json<Page<AuditEntryJson>>("GET", `/v1/audit/${encodeURIComponent(id)}`)).items,
      charts: (filter: AuditFilter = {}) => json<Charts>("GET", "/v1/audit/charts", { query: { ...filter } }),
      head: async () => (await json<{ head: string }>("GET", "/v1/audit/head")).head,
      verify: (head?: string) =>
        json<{ ok: true; records: number; chains: number } | { ok: false; problem: string; record: string }>(
          "POST",
          "/v1/audit/verify",
          { body: head === undefined ? {} : { head } },
        ),
    },

    chains: {
      list: (filter: { agentId?: string; cursor?: string } = {}) =>
        json<Page<ConversationJson>>("GET", "/v1/chains", { query: filter }),
      create: (body: ChainBody) => json<ConversationJson>("POST", "/v1/chains", { body }),
      /** A conversation, with the last answer of its model and the agents that have not answered it yet. */
      get: (id: string) => json<ConversationNowJson>("GET", chainPath(id)),
      /**
       * Its turns, and in `agents` what the agents do that it gave work to: from an index on, or what came after the
       * `cursor` of the answer before. Waits up to `wait` seconds for the next.
       */
      turns: (id: string, { signal, ...query }: Signal & { from?: number; cursor?: string; wait?: number } = {}) =>
        json<ChainEventsJson>("GET", chainPath(id, "/events"), { query, signal }),
      /** Steers it while it works, else begins the next run. */
      say: (id: string, message: string) =>
        json<ConversationJson>("POST", chainPath(id, "/messages"), { body: { message } }),
      resume: (id: string) => json<ConversationJson>("POST", chainPath(id, "/resume")),
      stop: (id: string) => json<ConversationJson>("POST", chainPath(id, "/stop")),
    },

    freeze: (body: { agentId?: string; because?: string } = {}) => json<void>("POST", "/v1/freeze", { body }),
    thaw: (body: { agentId?: string } = {}) => json<{ thawed: boolean }>("POST", "/v1/thaw", { body }),

    /** Streams the events as they happen. Reconnects by itself; end it with `signal`. */
    events: (given: EventsOptions = {}): AsyncGenerator<ServerEvent> => eventsOf(connection, given),
  }
}

/** Reports whether a call still waits for a person. */
export function isTicket(answer: CallResult | Ticket): answer is Ticket {
  return "state" in answer
}
