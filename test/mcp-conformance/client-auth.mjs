// The scenarios of the official suite in which the client signs in. The person opens every URL and accepts.

/** The URL that the suite accepts as the client's id. */
const clientMetadataUrl = "https://conformance-test.local/client-metadata.json"
const redirectUrl = "http://127.0.0.1:41998/callback"

/** The scenarios in which signing in must fail, with a part of the error. */
const refusals = {
  "auth/iss-supported-missing": "came from another authorization server",
  "auth/iss-wrong-issuer": "came from another authorization server",
  "auth/iss-unexpected": "came from another authorization server",
  "auth/iss-normalized": "came from another authorization server",
  "auth/metadata-issuer-mismatch": "identifies itself as another one",
  "auth/resource-mismatch": "does not match",
  "auth/scope-retry-limit": "wants more rights than it was given",
}

/** The `auth` section of the configuration for a scenario. */
export function authFor(scenario, { client_id: clientId, client_secret: clientSecret }) {
  const grant = scenario.startsWith("auth/client-credentials") ? "client_credentials" : "code"
  return clientId === undefined ? { grant, clientMetadataUrl } : { grant, clientId, clientSecret }
}

/** Does the work, signs in when the app says that a person must, and tries again: three times at most. */
export async function runSignedIn(app, scenario, work) {
  const expected = refusals[scenario]
  for (let times = 0; ; times++) {
    const problem = await problemOf(app, work)
    if (problem === undefined && expected === undefined) return
    if (problem === undefined) throw new Error("Signing in succeeded, but it should have failed.")
    if (times > 0 && expected !== undefined && problem.includes(expected)) return
    if (times === 3 || !problem.includes("qm mcp login suite")) throw new Error(problem)
    const refused = await signIn(app).catch((error) => error.message)
    if (expected !== undefined && refused?.includes(expected)) return
    if (refused !== undefined) throw new Error(refused)
  }
}

async function problemOf(app, work) {
  const [{ state, problem }] = app.mcp.list()
  if (state !== "connected") return problem
  return work().then(
    () => undefined,
    (error) => error.message,
  )
}

async function signIn(app) {
  const begun = await app.mcp.signIn("suite", "ann", async () => redirectUrl)
  if (begun.url === undefined) return
  const answer = await fetch(begun.url, { redirect: "manual" })
  await app.mcp.finishSignIn("suite", "ann", answer.headers.get("location") ?? "")
}
