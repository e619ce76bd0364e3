import { z } from "zod"
import { callerOfSession, sessionCookie, sessionCookieIn, sessionHeader } from "./caller.ts"
import { endpoint, Reply, type Endpoint } from "./endpoint.ts"
import { HttpProblem } from "./problem.ts"

/** The most wrong links and tokens in a minute, of all callers together. A good one signs in whatever others try. */
const mostTries = 20

const common = {
  path: "/v1/session",
  tag: "Session",
  scope: "nobody",
  headers: z.object({ "x-quartermaster": z.literal("1").describe("Proves that no page of another site asks.") }),
} as const

/** Sign people in with a link or their token, and out again. */
export function sessionEndpoints(): Endpoint[] {
  let tries: number[] = []
  return [
    endpoint({
      ...common,
      method: "post",
      summary: "Signs a person in with the secret of a link, or with their token.",
      description:
        "The answer sets a cookie and has a second secret. A request counts only with both: the cookie, and the secret in the header x-quartermaster-session. A browser sends the cookie to every port of the host, so a page keeps the secret where other ports cannot read it.",
      body: z.object({
        link: z.string().optional().describe("The last part of the sign-in link."),
        token: z.string().optional().describe("The token of a person (qmp_…)."),
      }),
      answers: {
        200: z.object({
          secret: z.string().describe("To be sent as x-quartermaster-session with every request, also GET."),
          expiresAt: z.number(),
        }),
      },
      async handle({ api: { app, now, baseUrl }, headers, body: { link = "", token } }) {
        refuseOtherSites(headers)
        const redeemed = await (token === undefined ? app.signIn.redeem(link) : app.signIn.redeemToken(token))
        if (redeemed === undefined) {
          tries = tries.filter((at) => at > now() - 60_000)
          if (tries.length >= mostTries) throw tooManyTries()
          tries.push(now())
          if (token !== undefined) throw new HttpProblem(401, badToken, { code: "bad_person_token" })
          throw new HttpProblem(401, badLink, { code: "bad_link" })
        }
        const { secrets, session } = redeemed
        const seconds = Math.floor((session.expiresAt - now()) / 1000)
        const cookie = cookieText(secrets.cookie, seconds, baseUrl().startsWith("https:"))
        return new Reply({ secret: secrets.page, expiresAt: session.expiresAt }, 200, { "set-cookie": cookie })
      },
    }),
    endpoint({
      ...common,
      method: "delete",
      summary: "Signs out: ends the session.",
      answers: { 204: undefined },
      async handle({ api: { app }, headers }) {
        refuseOtherSites(headers)
        const caller = callerOfSession(app, sessionCookieIn(headers.get("cookie")), headers.get(sessionHeader))
        if (caller?.sessionId !== undefined) await app.signIn.end(caller.sessionId, caller.id)
        return new Reply(undefined, 204, { "set-cookie": `${sessionCookie}=; Max-Age=0; Path=/` })
      },
    }),
  ]
}

/** Keeps a page of another site from signing a browser in as somebody else. */
function refuseOtherSites(headers: { get(name: string): string | undefined }): void {
  if (headers.get("x-quartermaster") !== "1")
    throw new HttpProblem(403, "Send the header 'x-quartermaster: 1'.", { code: "missing_header" })
}

function cookieText(secret: string, seconds: number, isSecure: boolean): string {
  const secure = isSecure ? "; Secure" : ""
  return `${sessionCookie}=${encodeURIComponent(secret)}; Max-Age=${seconds}; Path=/; HttpOnly${secure}; SameSite=Strict`
}

function tooManyTries(): HttpProblem {
  const headers = { "retry-after": "60" }
  return new HttpProblem(
    429,
    "Too many links and tokens were tried. Wait a minute.",
    { code: "too_many_tries" },
    headers,
  )
}

const badLink = "This link was used, is too old, or never was one. Run 'qm open' for a new one."

const badToken =
  "This is no token of a person, or it has expired or was revoked. Ask whoever runs Quartermaster for another one. Tokens of agents (qma_…) are for programs."
