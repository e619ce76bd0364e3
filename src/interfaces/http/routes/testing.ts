import { expect, onTestFinished } from "vitest"
import { serveAppForTest } from "../testing.ts"
import { temporaryFolder, tool, until } from "../../../testing/test-app.ts"

const config = {
  databases: { crm: { url: "postgres://db.example/crm", readOnly: true } },
  org: {
    people: [{ id: "pat", name: "Pat", roles: ["lead"] }],
    roles: [{ name: "worker", toolGroups: ["test", "data", "interaction", "workspace"] }],
    agents: [{ id: "ada", role: "worker" }, { id: "bob", role: "worker" }],
  },
} // prettier-ignore

/** A served app, and clients: the user of this machine with a session, and agents with tokens. */
export async function serving(models = {}, people: readonly object[] = []) {
  const workspace = temporaryFolder()
  const org = { ...config.org, people: [...config.org.people, ...people] }
  const { app, served, token } = await serveAppForTest({ ...config, org } as never, {}, { models, workspace })
  app.registry.registerMany([
    tool({ name: "send", effect: "communicate", execute: () => "sent" }),
    tool({ name: "look", effect: "read", execute: () => "seen" }),
    tool({ name: "leak", effect: "read", permission: { requireResultApproval: "always" }, execute: () => ({ key: "s3cret", n: 1 }) }),
  ]) // prettier-ignore
  const client = (headers: Record<string, string>) => async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${served.url}${path}`, {
      method,
      headers: { "x-quartermaster": "1", "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
  }
  const signIn = async (person: string, isMachineUser: boolean) => {
    const { link } = await app.signIn.createLink({ person, isMachineUser })
    const { status, headers, body } = await client({})("POST", "/v1/session", { link })
    expect(status).toBe(200)
    const [cookie = ""] = headers.get("set-cookie")!.split(";")
    const session = { cookie, "x-quartermaster-session": body.secret as string }
    return { ask: client(session), setCookie: headers.get("set-cookie")!, link, session }
  }
  return {
    app,
    served,
    workspace,
    client,
    signIn,
    token,
    agent: async (id: string) => client({ authorization: `Bearer ${await token(id)}` }),
  }
}

/** Opens the event stream. `text` is all that has come so far. */
export async function follow(url: string, headers: Record<string, string>): Promise<{ text: string; stop(): void }> {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const response = await fetch(`${url}/v1/events`, { headers, signal: stop.signal })
  const state = { text: "", stop: () => stop.abort() }
  void (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body!) state.text += decoder.decode(chunk as Uint8Array, { stream: true })
    } catch {
      // The test stopped it.
    }
  })()
  await until(() => state.text.includes("event: hello"), "it is open")
  return state
}
