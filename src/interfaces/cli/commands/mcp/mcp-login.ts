import { createInterface } from "node:readline"
import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { UnmatchedSignInRedirect, type McpSignedIn } from "../../../../core/mcp.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { nearestName } from "../../../../lib/nearest-name.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { printResult, printMessage } from "../../common/output.ts"
import { listenForRedirect } from "./redirect-listener.ts"
import { isAttended, withPerson } from "../../common/open-app.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { CannotDo, NotAllowed, UsageError } from "../../common/usage.ts"

interface LoginFlags {
  wait: boolean
  paste?: boolean
}

export function addLogin(mcp: CliCommand, run: Run): void {
  mcp
    .command("login <server>")
    .example("qm mcp login github")
    .description("sign in to a server that requires it; prints the URL to open")
    .option("--no-wait", "print the URL and exit; for machines without a browser")
    .option("--paste", "finish signing in: read the URL the browser was redirected to from stdin")
    .action(run(login))
  mcp
    .command("logout <server>")
    .example("qm mcp logout github")
    .description("delete the stored sign-in and revoke it if the server supports that")
    .action(run(logout))
}

function login(context: CliContext, server: string, { wait, paste = false }: LoginFlags): Promise<number> {
  if (!isAttended(context.io)) {
    throw new NotAllowed("Signing in needs a person at a terminal. Run this command in your own terminal.")
  }
  return withPerson(context, async (app, { id }) => {
    refuseUnknown(server, app)
    if (paste) return showSignedIn(context, id, await readPasted(context, app, server, id))
    if (!wait) return beginOnly(context, app, server, id)
    const signedIn = await waitForSignIn(context, app, server, id)
    return signedIn === undefined ? 130 : showSignedIn(context, id, signedIn)
  })
}

/** Waits for the browser's redirect, or for a pasted redirect URL. Undefined if the person cancels. */
async function waitForSignIn(
  context: CliContext,
  app: Quartermaster,
  server: string,
  by: string,
): Promise<McpSignedIn | undefined> {
  const { io } = context
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  const closes: (() => void)[] = [stop]
  try {
    return await new Promise<McpSignedIn | undefined>((resolve, reject) => {
      controller.signal.addEventListener("abort", () => resolve(undefined))
      const finish = finishing(app, server, by, resolve)
      const redirectTo = async (port: number | undefined) => {
        const listener = await listenForRedirect(port, async (address) => {
          return finish(address).catch((error: Error) => {
            if (!(error instanceof UnmatchedSignInRedirect)) reject(error)
            throw error
          })
        })
        closes.push(() => listener.close())
        return listener.url
      }
      const begin = async () => {
        const begun = await app.mcp.signIn(server, by, redirectTo)
        if ("issuer" in begun) return resolve(begun)
        printMessage(context, `Open this URL to sign in to ${server}:\n\n  ${begun.url}\n`)
        printMessage(
          context,
          "If the browser is on another machine, paste the URL it is redirected to. Press Ctrl-C to cancel.",
        )
        const lines = createInterface({ input: io.stdin })
        closes.push(() => lines.close())
        lines.on("line", (line) => {
          if (line.trim() === "") return
          finish(line).catch((error: Error) =>
            error instanceof UnmatchedSignInRedirect ? printMessage(context, error.message) : reject(error),
          )
        })
      }
      begin().catch(reject)
    })
  } catch (error) {
    throw signInFailed(error)
  } finally {
    for (const close of closes) close()
  }
}

/** Finishes the sign-in once, even if the browser sends the same redirect twice. */
function finishing(app: Quartermaster, server: string, by: string, done: (signedIn: McpSignedIn) => void) {
  let current: Promise<string> | undefined
  const finish = async (address: string): Promise<string> => {
    try {
      done(await app.mcp.finishSignIn(server, by, address))
      return `You are signed in to ${server}. You can close this page.`
    } catch (error) {
      current = undefined
      throw error
    }
  }
  return (address: string): Promise<string> => (current ??= finish(address))
}

async function beginOnly(context: CliContext, app: Quartermaster, server: string, by: string): Promise<number> {
  try {
    const begun = await app.mcp.signIn(server, by, async (port) => {
      const listener = await listenForRedirect(port, () => Promise.resolve(""))
      listener.close()
      return listener.url
    })
    if ("issuer" in begun) return showSignedIn(context, by, begun)
    const text = [
      `Open this URL within 15 minutes to sign in to ${server}:`,
      "",
      `  ${begun.url}`,
      "",
      `The browser is then redirected to a URL that begins with ${begun.redirectUrl} and shows no page.`,
      `Copy that URL and run: qm mcp login ${server} --paste`,
    ]
    printResult(context, { server, url: begun.url }, text.join("\n"))
    return 0
  } catch (error) {
    throw signInFailed(error)
  }
}

async function readPasted(context: CliContext, app: Quartermaster, server: string, by: string): Promise<McpSignedIn> {
  const { io } = context
  printMessage(context, "Paste the URL the browser was redirected to:")
  const lines = createInterface({ input: io.stdin })
  try {
    for await (const line of lines) {
      if (line.trim() !== "") return await app.mcp.finishSignIn(server, by, line)
    }
    throw new Error("Nothing was pasted.")
  } catch (error) {
    throw signInFailed(error)
  } finally {
    lines.close()
  }
}

function showSignedIn(context: CliContext, by: string, signedIn: McpSignedIn): number {
  const { server, scopes, issuer } = signedIn
  const granted =
    scopes.length === 0 ? "The server does not say which rights that grants." : `Scopes: ${scopes.join(", ")}.`
  printResult(context, signedIn, `${by} is signed in to ${server} by ${issuer}. ${granted}`)
  return 0
}

function logout(context: CliContext, server: string): Promise<number> {
  return withPerson(context, async (app, { id }) => {
    refuseUnknown(server, app)
    const done = await app.mcp.signOut(server, id).catch((error: unknown) => {
      throw signInFailed(error)
    })
    if (done === undefined) {
      throw new CannotDo("not_signed_in", `Nobody is signed in to ${server}.`)
    }
    const there = done.revoked
      ? "and revoked at the server"
      : "but could not be revoked at the server; you can do that in your account there"
    printResult(context, { server, ...done }, `The sign-in to ${server} was deleted here ${there}.`)
    return 0
  })
}

function refuseUnknown(server: string, { mcp }: Quartermaster): void {
  const names = mcp.list().map(({ name }) => name)
  if (names.includes(server)) return
  const guess = nearestName(server, names)
  const help = guess ? `Did you mean '${guess}'?` : "'qm mcp list' shows all servers."
  throw new UsageError(`There is no MCP server '${server}'. ${help}`)
}

function signInFailed(error: unknown): CannotDo {
  return new CannotDo("sign_in_failed", errorMessage(error))
}
