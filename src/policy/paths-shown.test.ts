import fc from "fast-check"
import { expect, test } from "vitest"
import { readGround } from "./paths-ground.ts"
import { quickShown } from "./paths-shown.ts"

const words = ["index", "credentials", "secrets", "secret", "auth", "local.settings", "token", "tokens", "service-account-x", "client_secret_1", "gcp-key", "id_rsa", "id_ed25519", "server", "shadow", "README", ".env", "prod", "_netrc", "application_default_credentials", "quartermaster", "rclone", "Credentials", "ＳＥＣＲＥＴ", "cert", "terraform", ".npmrc", "kube"] // prettier-ignore
const endings = ["", ".json", ".yml", ".yaml", ".toml", ".xml", ".csv", ".env", ".pem", ".key", ".ts", ".md", ".JSON", ".conf", ".tfvars", ".example", ".local", ".pub", ".log", ".txt"] // prettier-ignore
const folders = ["src", "a.b", ".git", ".github", ".ssh", ".aws", ".config", "gh", ".cargo", ".docker", "CVS", "data", "kept", "node_modules", ".GIT"] // prettier-ignore

test("law: what is seen at a glance to be shown or not is what is found when each path is looked at", () => {
  const ground = readGround({ workspace: "/ws", sealed: ["/ws/data", "/ws/kept/index.json"], realpath: (path) => path })
  const quick = quickShown(ground, ["/ws/data", "/ws/kept/index.json"])
  const slow = (path: string) => ground.isShown(`/ws/${path}`)
  const name = fc.tuple(fc.constantFrom(...words), fc.constantFrom(...endings)).map((parts) => parts.join(""))
  const path = fc.tuple(fc.array(fc.constantFrom(...folders), { maxLength: 3 }), name).map(([steps, last]) => [...steps, last].join("/")) // prettier-ignore
  let hidden = 0
  fc.assert(
    fc.property(path, (one) => {
      const expected = slow(one)
      if (!expected) hidden += 1
      expect([one, quick(one)]).toEqual([one, expected])
    }),
    { numRuns: 5000 },
  )
  expect(hidden).toBeGreaterThan(100)
})
