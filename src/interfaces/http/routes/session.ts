import type { OpenAPIHono } from "@hono/zod-openapi"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import { callerOfSession, sessionCookie, sessionHeader } from "./caller.ts"
import type { Api } from "./endpoint.ts"
import { HttpProblem } from "./problem.ts"

/** How many wrong links and tokens are looked at in a minute, for all callers together. A good one signs in whatever others try. */
const mostTries = 20

/** Signs people in with a link or their token, and out again. */
export function sessionRoutes(hono: OpenAPIHono, { app, now, baseUrl }: Api): void {
  let tries: number[] = []
  hono.post("/v1/session", async (context) => {
    // A page of another site must not sign a browser in as somebody else.
    if (context.req.header("x-quartermaster") !== "1")
      throw new HttpProblem(403, "Send the header 'x-quartermaster: 1'.", { code: "missing_header" })
    const body: unknown = await context.req.json().catch(() => ({}))
    const [link, token] = [textIn(body, "link"), textIn(body, "token")]
    const redeemed = await (token === undefined ? app.signIn.redeem(link ?? "") : app.signIn.redeemToken(token))
    if (redeemed === undefined) {
      tries = tries.filter((at) => at > now() - 60_000)
      if (tries.length >= mostTries)
        throw new HttpProblem(
          429,
          "Too many links and tokens were tried. Wait a minute.",
          { code: "too_many_tries" },
          { "retry-after": "60" },
        )
      tries.push(now())
      if (token !== undefined) throw new HttpProblem(401, badToken, { code: "bad_person_token" })
      throw new HttpProblem(401, "This link was used, is too old, or never was one. Run 'qm open' for a new one.", {
        code: "bad_link",
      })
    }
    const { secrets, session } = redeemed
    setCookie(context, sessionCookie, secrets.cookie, {
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      secure: baseUrl().startsWith("https:"),
      maxAge: Math.floor((session.expiresAt - now()) / 1000),
    })
    return context.json({ secret: secrets.page, expiresAt: session.expiresAt }, 200, { "cache-control": "no-store" })
  })
  hono.delete("/v1/session", async (context) => {
    const caller = callerOfSession(app, getCookie(context, sessionCookie), context.req.header(sessionHeader))
    if (context.req.header("x-quartermaster") !== "1")
      throw new HttpProblem(403, "Send the header 'x-quartermaster: 1'.", { code: "missing_header" })
    if (caller?.sessionId !== undefined) await app.signIn.end(caller.sessionId, caller.id)
    deleteCookie(context, sessionCookie, { path: "/" })
    return context.body(null, 204)
  })
}

const badToken =
  "This is no token of a person, or it has expired or was revoked. Ask whoever runs Quartermaster for another one. Tokens of agents (qma_…) are for programs."

function textIn(body: unknown, name: string): string | undefined {
  const value = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === "string" ? value : undefined
}
