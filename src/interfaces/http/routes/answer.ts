import type { z } from "zod"
import { errorMessage } from "../../../lib/error-message.ts"
import { nearestName } from "../../../lib/nearest-name.ts"
import { OrganisationError } from "../../../org/organisation-admin.ts"
import { StoreUnavailable } from "../../../core/ending.ts"
import { issueSentence } from "../../../schema/issue-sentence.ts"
import { valueAtPath } from "../../../schema/problems.ts"
import type { HttpReply } from "../../../lib/http-reply.ts"
import type { Scope } from "../../../core/organisation.ts"
import {
  bearerToken,
  callerOfSession,
  callerOfToken,
  nobody,
  sessionCookieIn,
  sessionHeader,
  unknownToken,
  type Caller,
} from "./caller.ts"
import { RawReply, Reply, type Api, type Asked, type Endpoint } from "./endpoint.ts"
import { localKeyHeader } from "../../../lib/local-key.ts"
import { isLocal } from "./is-local.ts"
import { HttpProblem } from "./problem.ts"

/** A request whose parts are not validated yet. Its query, body and signal are made when asked for. */
export interface Incoming {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  header(name: string): string | undefined
  bytes(): Promise<Buffer>
  /** Aborts when the client disconnects before it has its answer. */
  readonly signal: AbortSignal
}

/** Checks a request and has the endpoint answer it. */
export async function answer(each: Endpoint, api: Api, incoming: Incoming): Promise<HttpReply> {
  const callerNow = () => {
    if (each.scope === "nobody") return nobody
    return each.scope === "local" ? requireLocal(incoming, api) : requireCaller(incoming, api, each.scope)
  }
  const caller = callerNow()
  const asked: Asked<unknown, unknown, unknown> = {
    api,
    caller,
    callerNow,
    params: each.params && valid(each.params, incoming.params, "params"),
    query: each.query && valid(each.query, incoming.query, "query"),
    body: each.body && valid(each.body, jsonOf((await incoming.bytes()).toString("utf8"), each, incoming), "body"),
    headers: { get: (name) => incoming.header(name) },
    bytes: () => incoming.bytes(),
    get signal() {
      return incoming.signal
    },
  }
  const value = await each.handle(asked as Asked<never, never, never>)
  if (value instanceof RawReply) return { status: 200, headers: { ...plain, ...value.headers }, body: value.body }
  const { status, headers, value: body } = value instanceof Reply ? value : new Reply(value, usualStatus(each))
  if (each.answers[status] === undefined) return { status, headers: { ...plain, ...headers }, body: null }
  return { status, headers: { ...json, ...headers }, body: JSON.stringify(body) }
}

function usualStatus({ answers }: Endpoint): number {
  for (const status in answers) return Number(status)
  return 200
}

/** The reply to a request that failed. */
export function problemReply(error: unknown): HttpReply {
  const found = problemOf(error)
  const headers = { ...plain, "content-type": "application/problem+json", ...found.headers }
  return { status: found.status, headers, body: JSON.stringify(found) }
}

/**
 * Clients are told to keep an idle connection for less time than the server does: one that sends a request just when the
 * server closes the connection would get no answer.
 */
const plain = { "cache-control": "no-store", "keep-alive": "timeout=60" }
const json = { ...plain, "content-type": "application/json" }

/** Finds who makes the request. Throws unless they are signed in and have the scope. */
function requireCaller(incoming: Incoming, api: Api, scope: Scope | "any"): Caller {
  const caller = callerOf(incoming, api)
  if (caller === undefined) throw refusedToken(bearerToken(incoming.header("authorization")), api)
  if (scope !== "any" && !caller.scopes.includes(scope))
    throw new HttpProblem(403, missingScope(caller, scope), {
      code: caller.kind === "agent" ? "agents_only_call" : "missing_scope",
      params: { id: caller.id, scope },
    })
  return caller
}

/** Who shows the key is a program of this machine's user: nobody else can read the file that has it. */
function requireLocal(incoming: Incoming, { localKey }: Api): Caller {
  if (isLocal(localKey, incoming.header(localKeyHeader))) return nobody
  throw new HttpProblem(401, "Only programs of this machine's user ask here, with the key in the data folder.", {
    code: "not_local",
  })
}

const unauthorized = new HttpProblem(
  401,
  "Send 'Authorization: Bearer <token>', or sign in with the link that 'qm open' prints.",
  { code: "not_signed_in" },
  { "www-authenticate": 'Bearer realm="quartermaster"' },
)

function refusedToken(token: string | undefined, { app }: Api): HttpProblem {
  if (token === undefined) return unauthorized
  const person = app.org.personOfToken(token, "expired")
  const headers = { "www-authenticate": unknownToken.challenge }
  if (person === undefined) return new HttpProblem(401, unknownToken.sentence, { code: "not_signed_in" }, headers)
  const { id, tokenExpiresAt = 0 } = person
  const at = new Date(tokenExpiresAt).toISOString()
  const sentence = `The token of ${id} expired at ${at}. Somebody who may manage makes a new one with: qm people token ${id}`
  return new HttpProblem(401, sentence, { code: "token_expired", params: { id, at } }, headers)
}

function callerOf(incoming: Incoming, { app }: Api): Caller | undefined {
  const authorization = incoming.header("authorization")
  if (authorization !== undefined) {
    const token = bearerToken(authorization)
    return token === undefined ? undefined : callerOfToken(app, token)
  }
  return callerOfSession(app, sessionCookieIn(incoming.header("cookie")), incoming.header(sessionHeader))
}

function missingScope({ kind, id }: Caller, scope: string): string {
  if (kind === "agent") return `This is the token of agent ${id}, which may only call tools. Use a person's token.`
  return scope === "manage"
    ? `${id} may not manage. Only the user of this machine, or people with 'scopes: [manage]' in org.people, may.`
    : `${id} may not do this: the scope '${scope}' is missing. Give it to them in org.people.`
}

function jsonOf(text: string, { scope }: Endpoint, incoming: Incoming): unknown {
  if (text === "") return {}
  // Pages of other sites can send other types with a session, which an endpoint for nobody does not look at.
  if (scope !== "nobody" && !/^application\/([\w.-]+\+)?json\b/i.test(incoming.header("content-type") ?? ""))
    throw new HttpProblem(415, "Send the body as JSON, with 'content-type: application/json'.", { code: "not_json" })
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new HttpProblem(400, "The body is not valid JSON.", { code: "invalid_json" })
  }
}

function valid(schema: z.ZodType, value: unknown, part: keyof typeof parts): unknown {
  const parsed = schema.safeParse(value)
  if (part === "body") refuseMistyped(schema, value)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map((issue) => ({
    path: `/${issue.path.join("/")}`,
    sentence: issueSentence(issue, valueAtPath(value, issue.path)),
  }))
  const [first] = errors
  const name = first === undefined || first.path === "/" ? parts[part] : `'${first.path.slice(1)}' in ${parts[part]}`
  const detail = `${name} ${first?.sentence}`
  throw new HttpProblem(400, `${detail.slice(0, 1).toUpperCase()}${detail.slice(1)}`, {
    code: "invalid_request",
    ...(first === undefined || first.path === "/" ? {} : { params: { field: first.path.slice(1) } }),
    errors,
  })
}

/** Refuses a key of the body that is nearly one that was left out. Other unknown keys are ignored. */
function refuseMistyped(schema: z.ZodType, value: unknown): void {
  if (!("shape" in schema.def) || typeof value !== "object" || value === null) return
  const known = Object.keys(schema.def.shape as object)
  const left = known.filter((key) => !(key in value))
  for (const key of Object.keys(value)) {
    const meant = known.includes(key) ? undefined : nearestName(key, left)
    if (meant === undefined) continue
    throw new HttpProblem(400, `The body has no key '${key}'. Did you mean '${meant}'?`, {
      code: "invalid_request",
      params: { field: key },
      errors: [{ path: `/${key}`, sentence: `is not a key. Did you mean '${meant}'?` }],
    })
  }
}

const parts = { params: "the path", query: "the query", body: "the body" }

function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (error instanceof OrganisationError)
    return new HttpProblem(statusOf(error.code), error.message, { code: error.code })
  if (error instanceof StoreUnavailable) return new HttpProblem(503, error.message, { code: "store_unavailable" })
  return new HttpProblem(500, `This is a mistake in Quartermaster, please report it: ${errorMessage(error)}`, {
    code: "internal",
  })
}

function statusOf(code: string): number {
  if (code.endsWith("_not_found")) return 404
  return code === "mode_not_yours" ? 403 : 422
}
