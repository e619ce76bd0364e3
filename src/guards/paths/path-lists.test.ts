import fc from "fast-check"
import { expect, test } from "vitest"
import { createPathPolicy } from "./path-policy.ts"
import { confirmedBecause, protectedBecause, type FileAccess } from "./path-lists.ts"
import { fastIsShown } from "./fast-is-shown.ts"
import { foldName, foldPath, pathTextFault } from "./path-text.ts"

type Verdict = "protected" | "confirmed" | "free"

function verdict(path: string, use: FileAccess): Verdict {
  if (protectedBecause(path, use) !== undefined) return "protected"
  return confirmedBecause(path, use) === undefined ? "free" : "confirmed"
}

/** path → what reading and writing it is. */
const table: Record<string, [Verdict, Verdict]> = {
  "src/main.ts": ["free", "free"],
  "README.md": ["free", "free"],
  "src/key.ts": ["free", "free"],
  "monkey.txt": ["free", "free"],
  "keys/readme.md": ["free", "free"],
  ".gitignore": ["free", "free"],
  ".git": ["free", "protected"],
  ".git/config": ["confirmed", "protected"],
  "a/.git/hooks/pre-commit": ["free", "protected"],
  ".hg/hgrc": ["free", "protected"],
  ".claude": ["free", "protected"],
  ".mcp.json": ["free", "protected"],
  ".cursor/rules/x.mdc": ["free", "protected"],
  ".vscode/launch.json": ["free", "protected"],
  ".idea/workspace.xml": ["free", "protected"],
  ".husky/_/husky.sh": ["free", "protected"],
  ".devcontainer/Dockerfile": ["free", "protected"],
  ".bashrc": ["free", "protected"],
  ".profile": ["free", "protected"],
  ".zshrc": ["free", "protected"],
  ".gitconfig": ["free", "protected"],
  ".npmrc": ["confirmed", "protected"],
  ".envrc": ["confirmed", "protected"],
  ".config/fish/config.fish": ["free", "protected"],
  ".config/gh/hosts.yml": ["confirmed", "confirmed"],
  ".config": ["free", "protected"],
  ".config/app/settings.json": ["free", "free"],
  ".cargo/credentials.toml": ["confirmed", "confirmed"],
  ".docker/config.json": ["confirmed", "confirmed"],
  ".ssh/known_hosts": ["protected", "protected"],
  ".gnupg/x": ["protected", "protected"],
  id_rsa: ["protected", "protected"],
  "deploy/id_ecdsa_sk": ["protected", "protected"],
  "id_rsa.bak": ["protected", "protected"],
  "id_rsa.pub": ["free", "free"],
  "server.key": ["protected", "protected"],
  "tls/privkey.pem": ["protected", "protected"],
  "tls/fullchain.pem": ["free", "free"],
  "tls/ca.pem": ["free", "free"],
  "store.p12": ["protected", "protected"],
  ".env": ["confirmed", "confirmed"],
  ".env.local": ["confirmed", "confirmed"],
  "prod.env": ["confirmed", "confirmed"],
  ".env.example": ["free", "free"],
  ".env.example.local": ["confirmed", "confirmed"],
  ".environment": ["free", "free"],
  ".env~": ["confirmed", "confirmed"],
  ".env2": ["confirmed", "confirmed"],
  "..env.swp": ["confirmed", "confirmed"],
  "#.env#": ["confirmed", "confirmed"],
  ".env.example~": ["free", "free"],
  ".envs/production/django": ["confirmed", "confirmed"],
  ".dev.vars": ["confirmed", "confirmed"],
  ".npmrc.bak": ["confirmed", "confirmed"],
  "credentials.json.old": ["confirmed", "confirmed"],
  "id_rsa~": ["protected", "protected"],
  ".id_ed25519.swp": ["protected", "protected"],
  "server.key.orig": ["protected", "protected"],
  "id_rsa.pub.bak": ["free", "free"],
  "notes.bak": ["free", "free"],
  "~": ["free", "free"],
  "#": ["free", "free"],
  ".bak": ["free", "free"],
  ".bash_history": ["confirmed", "confirmed"],
  ".m2/settings.xml": ["confirmed", "confirmed"],
  ".m2/repository/x.jar": ["free", "free"],
  "secrets.yml": ["confirmed", "confirmed"],
  "service-account-prod.json": ["confirmed", "confirmed"],
  "terraform.tfstate": ["confirmed", "confirmed"],
  ".netrc": ["confirmed", "confirmed"],
  ".aws/credentials": ["confirmed", "confirmed"],
  "package.json": ["free", "confirmed"],
  "packages/a/package.json": ["free", "confirmed"],
  "package.json.md": ["free", "free"],
  Makefile: ["free", "confirmed"],
  "rules.mk": ["free", "confirmed"],
  "Dockerfile.dev": ["free", "confirmed"],
  "Dockerfile.md": ["free", "free"],
  "Cargo.toml": ["free", "confirmed"],
  "CMakeLists.txt": ["free", "confirmed"],
  "x.gemspec": ["free", "confirmed"],
  "package.json.bak": ["free", "free"],
  ".yarn/releases/yarn-4.cjs": ["free", "confirmed"],
  ".yarn/cache/x.zip": ["free", "free"],
  ".mvn/wrapper/maven-wrapper.properties": ["free", "confirmed"],
  Jenkinsfile: ["free", "confirmed"],
  ".github/workflows/ci.yml": ["free", "confirmed"],
  ".github/workflows": ["free", "confirmed"],
  ".github": ["free", "confirmed"],
  ".github/README.md": ["free", "free"],
  ".circleci/config.yml": ["free", "confirmed"],
  ".pre-commit-config.yaml": ["free", "confirmed"],
  "quartermaster.yml": ["free", "protected"],
  ".quartermaster/record.key": ["protected", "protected"],
}

test.each(Object.entries(table))("reading and writing %s is: %s", (path, [read, write]) => {
  expect([verdict(path, "read"), verdict(path, "write")]).toEqual([read, write])
})

/** Ways to write a name that some file system takes for the same. */
const disguises: Record<string, (name: string) => string> = {
  capitals: (name) => name.toUpperCase(),
  "a dot at the end": (name) => `${name}.`,
  "spaces at the end": (name) => `${name}  `,
  "a space before": (name) => ` ${name}`,
  "full-width letters": (name) =>
    name.replace(/[a-z]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0)),
  "an invisible character": (name) => `${name.slice(0, 2)}\u200d${name.slice(2)}`,
  "a soft hyphen": (name) => `${name}\u00ad`,
  "a stream": (name) => `${name}::$DATA`,
  "the long s": (name) => name.replaceAll("s", "ſ"),
}

const guarded = Object.entries(table).filter(([, verdicts]) => verdicts.some((one) => one !== "free"))

test("law: no spelling makes a protected or confirmed path free", () => {
  const disguiseOf = fc.constantFrom(...Object.values(disguises))
  const law = fc.property(
    fc.constantFrom(...guarded),
    fc.array(disguiseOf, { maxLength: 3 }),
    fc.boolean(),
    (one, ways, under) => {
      const [path, [read, write]] = one
      const hidden = path.split("/").map((step) => ways.reduce((name, way) => way(name), step)).join("/") // prettier-ignore
      const written = under ? `deep/er/${hidden}` : hidden
      if (read !== "free") expect(verdict(written, "read"), written).toBe(read)
      if (write !== "free") expect(verdict(written, "write"), written).toBe(write)
    },
  )
  fc.assert(law, { numRuns: 500 })
})

test("law: folding is idempotent, and a path folds like its names", () => {
  const nameOf = fc.string({ unit: "grapheme", maxLength: 12 }).map((name) => name.replaceAll("/", ""))
  fc.assert(
    fc.property(fc.array(nameOf, { maxLength: 4 }), (names) => {
      for (const name of names) expect(foldName(foldName(name))).toBe(foldName(name))
      expect(foldPath(names.join("/"))).toBe(names.map(foldName).join("/"))
    }),
    { numRuns: 500 },
  )
})

test("law: fastIsShown agrees with isShown of the policy", () => {
  const privatePaths = ["/ws/data", "/ws/a/token.txt"]
  const policy = createPathPolicy({ workspace: "/ws", privatePaths, realpath: (path) => path })
  const stepOf = fc.constantFrom(
    "a",
    "b",
    "data",
    "DATA",
    ".git",
    ".aws",
    ".config",
    "gh",
    "CVS",
    "src",
    "..",
    ".",
    "é",
    "~",
  )
  const lastOf = fc.constantFrom("x.ts", "token.txt", "TOKEN.TXT", ".env", "id_rsa.txt", "a.key", "a.key.bak", "secrets.yml~", ".env2", "gh", "package.json", "credentials", "x.TS", "ｘ.ts") // prettier-ignore
  const fast = fastIsShown(policy, privatePaths)
  const law = fc.property(
    fc.array(stepOf, { maxLength: 4 }),
    lastOf,
    fc.constantFrom("", "", "", "/"),
    (steps, last, start) => {
      const path = start + [...steps, last].join("/")
      const absolute = policy.resolve(path)
      expect(fast(path), path).toBe(typeof absolute === "string" && policy.isShown(absolute))
    },
  )
  fc.assert(law, { numRuns: 3000 })
})

test.each([
  "a\0b",
  "a\nb",
  "",
  "~",
  "~/x",
  "$HOME",
  "${x}/y",
  "$(x)",
  "`x`",
  "file:///x",
  "data:text/plain,x",
  "a\\b",
  "C:/x",
  "%2e%2e/x",
  "a%2Fb",
  "．．/x",
  "\ud800",
  "x".repeat(5000),
])("%j is refused as a path", (path) => {
  // prettier-ignore
  expect(pathTextFault(path)).toBeTypeOf("string")
})

test.each([
  "a",
  "a b",
  "..a",
  "a..",
  "...",
  "a~",
  "a$b",
  "routes/$id.tsx",
  "50%",
  "é",
  "日本語",
  "👨‍👩‍👧.png",
  "a:b",
  "[x]",
  "{y}",
  "-rf",
  "a'b\"c",
  "½",
])("%j is accepted as a path", (path) => {
  // prettier-ignore
  expect(pathTextFault(path)).toBeUndefined()
})
