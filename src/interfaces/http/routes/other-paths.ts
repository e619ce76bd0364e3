import type { OpenAPIHono } from "@hono/zod-openapi"
import { z } from "zod"
import { problem } from "./schemas.ts"

const aProblem = { description: "A problem.", content: { "application/problem+json": { schema: problem } } }
const ownHeader = z.object({ "x-quartermaster": z.literal("1").describe("Proves that no page of another site asks.") })
const nobody: { [name: string]: string[] }[] = []
const state = {
  200: { description: "It can.", content: { "application/json": { schema: z.object({ status: z.literal("ok") }) } } },
  default: aProblem,
}

export const signInBody = z.object({ link: z.string().describe("The last part of the sign-in link.") })

const signedIn = z.object({
  secret: z.string().describe("To be sent as x-quartermaster-session with every request, also GET."),
  expiresAt: z.number(),
})

/** Describes what is served besides the endpoints: signing in and out, the event stream, metrics and health. */
export function documentOtherPaths({ openAPIRegistry: registry }: OpenAPIHono): void {
  registry.registerPath({
    method: "post",
    path: "/v1/session",
    summary: "Signs a person in with the secret of a link.",
    description:
      "The answer sets a cookie and has a second secret. A request counts only with both: the cookie, and the secret in the header x-quartermaster-session. A browser sends the cookie to every port of the host, so a page keeps the secret where other ports cannot read it.",
    tags: ["Session"],
    security: nobody,
    request: {
      headers: ownHeader,
      body: { content: { "application/json": { schema: signInBody } }, required: true },
    },
    responses: {
      200: { description: "Signed in.", content: { "application/json": { schema: signedIn } } },
      default: aProblem,
    },
  })
  registry.registerPath({
    method: "delete",
    path: "/v1/session",
    summary: "Signs out: ends the session.",
    tags: ["Session"],
    security: nobody,
    request: { headers: ownHeader },
    responses: { 204: { description: "Signed out." }, default: aProblem },
  })
  registry.registerPath({
    method: "get",
    path: "/v1/events",
    summary: "What is stored, as it is stored, as server-sent events.",
    description:
      "For everybody who is signed in. Events are hello, call, document, message, turn, audit, output and resync. The id of an event is a cursor: who reconnects with it gets what was missed, or resync when that is too much.",
    tags: ["Events"],
    request: {
      headers: z.object({ "last-event-id": z.string().optional().describe("Where an earlier stream ended.") }),
      query: z.object({ cursor: z.string().optional().describe("The same, for clients that cannot send headers.") }),
    },
    responses: {
      200: { description: "The stream.", content: { "text/event-stream": { schema: z.string() } } },
      default: aProblem,
    },
  })
  registry.registerPath({
    method: "get",
    path: "/metrics",
    summary: "Numbers in the text format of Prometheus.",
    description: "Needs the scope read.",
    tags: ["Server"],
    responses: {
      200: { description: "The numbers.", content: { "text/plain": { schema: z.string() } } },
      default: aProblem,
    },
  })
  for (const path of ["/healthz", "/readyz"])
    registry.registerPath({
      method: "get",
      path,
      summary: "Whether the store can write.",
      tags: ["Server"],
      security: nobody,
      responses: state,
    })
}
