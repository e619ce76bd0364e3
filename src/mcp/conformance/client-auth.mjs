// The scenarios of the official suite in which the client signs in: a person who opens every address and agrees.

/** The document that the suite takes for the client's id. */
const clientMetadataUrl = "https://conformance-test.local/client-metadata.json"
const redirectUrl = "http://127.0.0.1:41998/callback"

/** What must not come to a sign-in, and with which words it ends. */
const refusals = {
  "auth/iss-supported-missing": "came from another authorization server",
  "auth/iss-wrong-issuer": "came from another authorization server",
  "auth/iss-unexpected": "came from another authorization server",
  "auth/iss-normalized": "came from another authorization server",
  "auth/metadata-issuer-mismatch": "says it is another one",
  "auth/resource-mismatch": "does not match",
  "auth/scope-retry-limit": "wants more rights than it was given",
}

/** How one signs in at the suite's server, as the configuration has it. */
export function authFor(scenario, { client_id: clientId, client_secret: clientSecret }) {
  const grant = scenario.startsWith("auth/client-credentials") ? "client_credentials" : "code"
  return clientId === undefined ? { grant, clientMetadataUrl } : { grant, clientId, clientSecret }
}

/** Does its work, signs in when the house says that a person has to, and does it again: three times at most. */
export async function signsIn(house, scenario, work) {
  const expected = refusals[scenario]
  for (let times = 0; ; times++) {
    const problem = await problemOf(house, work)
    if (problem === undefined && expected === undefined) return
    if (problem === undefined) throw new Error("It was let in, and should not have been.")
    if (times > 0 && expected !== undefined && problem.includes(expected)) return
    if (times === 3 || !problem.includes("qm mcp login suite")) throw new Error(problem)
    const refused = await signIn(house).catch((error) => error.message)
    if (expected !== undefined && refused?.includes(expected)) return
    if (refused !== undefined) throw new Error(refused)
  }
}

async function problemOf(house, work) {
  const [{ state, problem }] = house.mcp.list()
  if (state !== "connected") return problem
  return work().then(
    () => undefined,
    (error) => error.message,
  )
}

async function signIn(house) {
  const begun = await house.mcp.signIn("suite", "ann", async () => redirectUrl)
  if (begun.url === undefined) return
  const answer = await fetch(begun.url, { redirect: "manual" })
  await house.mcp.finishSignIn("suite", "ann", answer.headers.get("location") ?? "")
}
