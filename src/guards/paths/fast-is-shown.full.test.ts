import fc from "fast-check"
import { expect, test } from "vitest"
import { createPathPolicy } from "./path-policy.ts"
import { fastIsShown } from "./fast-is-shown.ts"

const words = ["index", "credentials", "secrets", "secret", "auth", "local.settings", "token", "tokens", "service-account-x", "client_secret_1", "gcp-key", "id_rsa", "id_ed25519", "server", "shadow", "README", ".env", "prod", "_netrc", "application_default_credentials", "quartermaster", "rclone", "Credentials", "ＳＥＣＲＥＴ", "cert", "terraform", ".npmrc", "kube"] // prettier-ignore
const endings = ["", ".json", ".yml", ".yaml", ".toml", ".xml", ".csv", ".env", ".pem", ".key", ".ts", ".md", ".JSON", ".conf", ".tfvars", ".example", ".local", ".pub", ".log", ".txt"] // prettier-ignore
const folders = ["src", "a.b", ".git", ".github", ".ssh", ".aws", ".config", "gh", ".cargo", ".docker", "CVS", "data", "kept", "node_modules", ".GIT"] // prettier-ignore

test("law: fastIsShown agrees with isShown for 5,000 paths", () => {
  const policy = createPathPolicy({
    workspace: "/ws",
    privatePaths: ["/ws/data", "/ws/kept/index.json"],
    realpath: (path) => path,
  })
  const fast = fastIsShown(policy, ["/ws/data", "/ws/kept/index.json"])
  const slow = (path: string) => policy.isShown(`/ws/${path}`)
  const name = fc.tuple(fc.constantFrom(...words), fc.constantFrom(...endings)).map((parts) => parts.join(""))
  const path = fc.tuple(fc.array(fc.constantFrom(...folders), { maxLength: 3 }), name).map(([steps, last]) => [...steps, last].join("/")) // prettier-ignore
  let hidden = 0
  fc.assert(
    fc.property(path, (candidate) => {
      const expected = slow(candidate)
      if (!expected) hidden += 1
      expect([candidate, fast(candidate)]).toEqual([candidate, expected])
    }),
    { numRuns: 5000 },
  )
  expect(hidden).toBeGreaterThan(100)
})
