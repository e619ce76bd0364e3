import { createInterface } from "node:readline"
import type { Command } from "commander"
import type { App } from "../model/app.ts"
import { StrayAnswer, type McpSignedIn } from "../model/mcp.ts"
import { messageOf } from "../model/message.ts"
import { nearest } from "../model/nearest.ts"
import type { Run, Session } from "./house.ts"
import { answer, say } from "./output.ts"
import { openRedirectDoor } from "./redirect-door.ts"
import { isAttended, withPerson } from "./session.ts"
import { cancelOnSignal } from "./signals.ts"
import { CannotDo, NotAllowed, UsageError } from "./usage.ts"

interface LoginFlags {
  wait: boolean
  paste?: boolean
}

export function addLogin(mcp: Command, run: Run): void {
  mcp
    .command("login <server>")
    .description("sign in at a server that wants it; prints the address to open")
    .option("--no-wait", "print the address and end; for machines without a browser")
    .option("--paste", "go on with the address a browser came back to, read from stdin")
    .action(run(login))
  mcp.command("logout <server>").description("forget a sign-in, and revoke it where the server can").action(run(logout))
}

function login(session: Session, server: string, { wait, paste = false }: LoginFlags): Promise<number> {
  if (!isAttended(session.io)) {
    throw new NotAllowed("A person signs in, at a terminal of their own. Run it there.")
  }
  return withPerson(session, async (app, { id }) => {
    refuseUnknown(server, app)
    if (paste) return tellSignedIn(session, id, await pasted(session, app, server, id))
    if (!wait) return beginOnly(session, app, server, id)
    const signedIn = await waited(session, app, server, id)
    return signedIn === undefined ? 130 : tellSignedIn(session, id, signedIn)
  })
}

/** Waits for the browser here, or for somebody who pastes the address from one elsewhere. Undefined when they gave up. */
async function waited(session: Session, app: App, server: string, by: string): Promise<McpSignedIn | undefined> {
  const { io } = session
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  const closes: (() => void)[] = [stop]
  try {
    return await new Promise<McpSignedIn | undefined>((resolve, reject) => {
      controller.signal.addEventListener("abort", () => resolve(undefined))
      const finish = finishing(app, server, by, resolve)
      const redirectTo = async (port: number | undefined) => {
        const door = await openRedirectDoor(port, async (address) => {
          return finish(address).catch((error: Error) => {
            if (!(error instanceof StrayAnswer)) reject(error)
            throw error
          })
        })
        closes.push(() => door.close())
        return door.url
      }
      const begin = async () => {
        const begun = await app.mcp.signIn(server, by, redirectTo)
        if ("issuer" in begun) return resolve(begun)
        say(session, `Open this address to sign in at ${server}:\n\n  ${begun.url}\n`)
        say(session, "If the browser is on another machine, paste the address it comes back to. Ctrl-C gives up.")
        const lines = createInterface({ input: io.stdin })
        closes.push(() => lines.close())
        lines.on("line", (line) => {
          if (line.trim() === "") return
          finish(line).catch((error: Error) =>
            error instanceof StrayAnswer ? say(session, error.message) : reject(error),
          )
        })
      }
      begin().catch(reject)
    })
  } catch (error) {
    throw notDone(error)
  } finally {
    for (const close of closes) close()
  }
}

/** Takes answers one at a time. A browser may come twice with the same, which is good once. */
function finishing(app: App, server: string, by: string, done: (signedIn: McpSignedIn) => void) {
  let current: Promise<string> | undefined
  const finish = async (address: string): Promise<string> => {
    try {
      done(await app.mcp.finishSignIn(server, by, address))
      return `You are signed in at ${server}. You can close this page.`
    } catch (error) {
      current = undefined
      throw error
    }
  }
  return (address: string): Promise<string> => (current ??= finish(address))
}

async function beginOnly(session: Session, app: App, server: string, by: string): Promise<number> {
  try {
    const begun = await app.mcp.signIn(server, by, async (port) => {
      const door = await openRedirectDoor(port, () => Promise.resolve(""))
      door.close()
      return door.url
    })
    if ("issuer" in begun) return tellSignedIn(session, by, begun)
    const text = [
      `Open this address within 15 minutes to sign in at ${server}:`,
      "",
      `  ${begun.url}`,
      "",
      `The browser ends up at an address that begins with ${begun.redirectUrl} and shows no page.`,
      `Copy it and run: qm mcp login ${server} --paste`,
    ]
    answer(session, { server, url: begun.url }, text.join("\n"))
    return 0
  } catch (error) {
    throw notDone(error)
  }
}

async function pasted(session: Session, app: App, server: string, by: string): Promise<McpSignedIn> {
  const { io } = session
  say(session, "Paste the address the browser came back to:")
  const lines = createInterface({ input: io.stdin })
  try {
    for await (const line of lines) {
      if (line.trim() !== "") return await app.mcp.finishSignIn(server, by, line)
    }
    throw new Error("Nothing was pasted.")
  } catch (error) {
    throw notDone(error)
  } finally {
    lines.close()
  }
}

function tellSignedIn(session: Session, by: string, signedIn: McpSignedIn): number {
  const { server, scopes, issuer } = signedIn
  const given = scopes.length === 0 ? "It does not say which rights that gives." : `It gives: ${scopes.join(", ")}.`
  answer(session, signedIn, `${by} is signed in at ${server}, by ${issuer}. ${given}`)
  return 0
}

function logout(session: Session, server: string): Promise<number> {
  return withPerson(session, async (app, { id }) => {
    refuseUnknown(server, app)
    const done = await app.mcp.signOut(server, id).catch((error: unknown) => {
      throw notDone(error)
    })
    if (done === undefined) {
      throw new CannotDo("not_signed_in", `Nobody is signed in at ${server}, so there is nothing to forget.`)
    }
    const there = done.revoked
      ? "and revoked there"
      : "and could not be revoked there; do that in your account, if you like"
    answer(session, { server, ...done }, `The sign-in at ${server} is forgotten here, ${there}.`)
    return 0
  })
}

function refuseUnknown(server: string, { mcp }: App): void {
  const names = mcp.list().map(({ name }) => name)
  if (names.includes(server)) return
  const guess = nearest(server, names)
  const help = guess ? `Did you mean '${guess}'?` : "'qm mcp list' shows what there is."
  throw new UsageError(`There is no MCP server '${server}'. ${help}`)
}

function notDone(error: unknown): CannotDo {
  return new CannotDo("sign_in_failed", messageOf(error))
}
