import fc from "fast-check"
import { expect, test } from "vitest"
import { recordKeyFromText } from "../store/sqlite/record-key.ts"
import { masker } from "./mask.ts"
import { hideSecrets, mayHoldSecret } from "../lib/secret-patterns.ts"

const { mask, text } = masker(recordKeyFromText("ab".repeat(32)))

const secrets: [string, unknown, string][] = [
  ["a password by its name", { password: "hunter2" }, "hunter2"],
  ["a token by its name, in any spelling", { accessToken: "abcdef" }, "abcdef"],
  ["an api key by its name", { API_KEY: "abcdef" }, "abcdef"],
  ["a secret in a list under its name", { secrets: ["abcdef", "ghijkl"] }, "ghijkl"],
  ["a secret deep inside", { a: [{ b: { client_secret: "abcdef" } }] }, "abcdef"],
  ["a variable that names its secret", { key: "DB_PASSWORD", value: "abcdef" }, "abcdef"],
  ["a variable whose name only hints", { key: "MYSQL_PWD", value: "abcdef" }, "abcdef"],
  ["an access key in camel case", { openaiKey: "abcdef" }, "abcdef"],
  ["an OpenAI key", { note: "use sk-proj-abcdefghijklmnop1234 now" }, "abcdefghijklmnop"],
  ["a GitHub token", "ghp_abcdefghijklmnopqrstuvwxyz012345", "abcdefghij"],
  ["a JWT", { text: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl" }, "eyJzdWIi"],
  ["a PEM key", "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"],
  ["a PEM key without its end", `-----BEGIN PRIVATE KEY-----\nMIIabc`, "MIIabc"],
  ["a connection string's password", { url: "postgres://user:pa55w0rd@db.example/x" }, "pa55w0rd"],
  ["a bearer header", { header: "Authorization: Bearer abcdefghijklmnop" }, "abcdefghijklmnop"],
  ["an object under a secret name", { credentials: { user: "ann", word: "abcdef" } }, "abcdef"],
  ["JSON in a text", { text: '{"password":"abcdef"}' }, "abcdef"],
  ["a query with a token", { url: "https://example.com/?access_token=abcdef&x=1" }, "abcdef"],
  ["basic authorization", "Authorization: Basic YWJjZGVmZ2g=", "YWJjZGVm"],
  ["a header and its value", [["Authorization", "abcdef"]], "abcdef"],
  ["a named value", { name: "password", value: "abcdef" }, "abcdef"],
  ["a token as a name", { ghp_abcdefghijklmnopqrstuvwxyz012345: 1 }, "abcdefghij"],
  ["an AWS key", "AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"],
  ["a password in camel case", { dbPass: "abcdef" }, "abcdef"],
  ["a password with a dash in its name", { "pass-word": "abcdef" }, "abcdef"],
  ["a short name for a password", { pw: "abcdef" }, "abcdef"],
  ["a personal access token by its name", { pat: "abcdef" }, "abcdef"],
  ["a one-time code as a number", { otp: 123456 }, "123456"],
  ["a token as a number", { token: 123456 }, "123456"],
  ["a seed phrase", { seedPhrase: "witch collapse practice feed" }, "witch"],
  ["a database address by its name", { "database-url": "abcdef" }, "abcdef"],
  ["an Anthropic key", "sk-ant-api03-Ab_cD-eFgHiJkLmNoPqRsTuV12", "Ab_cD"],
  ["a router's key", "sk-or-v1-0123456789abcdef0123456789abcdef", "0123456789"],
  ["a Stripe key", "use sk_live_abcdefghij now", "abcdefghij"],
  ["a webhook's secret", "whsec_abcdefghijklmnopqrstuv12", "abcdefghij"],
  ["a fine-grained GitHub token", "github_pat_11ABCDEFG0abcdefghij_klmnopqrstuvw", "klmnopq"],
  ["a GitLab token", "glpat-abcdefghijklmnop1234", "abcdefghij"],
  ["an npm token", "//registry/:npm_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij"],
  ["a PyPI token", "pypi-AgEIcHlwaS5vcmcabcdefghijklmnopqrstuvwxyz0123456789", "AgEIcHlw"],
  ["a Slack token", "xoxb-123456789012-abcdefghij", "abcdefghij"],
  ["a Slack webhook", "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnop", "abcdefghij"],
  ["a Google key", "AIzaSyA1234567890abcdefghijklmnopqrstuv", "1234567890"],
  ["a Google access token", "ya29.a0AfH6SMBabcdefghijklmnop", "AfH6SMB"],
  ["a SendGrid key", "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", "abcdefghij"],
  ["a Telegram bot's token", "123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "abcdefghij"],
  ["a Hugging Face token", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "abcdefghij"],
  ["a Vault token", "hvs.CAESIabcdefghijklmnop", "abcdefghij"],
  ["an age key", "AGE-SECRET-KEY-1QQPQQQQQQQQQQQQQQQQQQQQQQQQ", "QQPQQ"],
  ["a JWT without its signature", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0", "eyJzdWIi"],
  ["a JWT behind a dash", "jwt-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", "eyJzdWIi"],
  [
    "an OpenSSH key",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----",
    "b3BlbnNz",
  ],
  ["a PGP key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----", "lQOYBF"],
  ["a PEM key longer than the record keeps", `-----BEGIN PRIVATE KEY-----\n${"QUJD".repeat(4000)}`, "QUJDQUJD"],
  ["a password with an @ in a connection string", "postgres://ann:p@ss@db.example/x", "p@ss"],
  ["a password with a slash in a connection string", "postgres://ann:p/ss@db.example/x", "p/ss"],
  ["a connection string without a user", "redis://:abcdef@cache.example:6379", "abcdef"],
  ["a connection string of Mongo", "mongodb+srv://ann:abcdef@db.example", "abcdef"],
  ["a connection string of ODBC", "Server=db;User Id=sa;Password=abc def;Pwd=ghijkl;", "ghijkl"],
  ["a storage account's connection string", "AccountName=x;AccountKey=abcdefgh==;", "abcdefgh"],
  ["a connection string of Go", "ann:abcdef@tcp(db.example:3306)/x", "abcdef"],
  ["a connection string of Oracle", "jdbc:oracle:thin:scott/tiger@//db.example/x", "tiger"],
  ["a token as the user of an address", "https://abcdefghij0123456789@example.com/x.git", "abcdefghij"],
  ["a password with blanks in JSON in a text", 'it said {"password": "hello my world"}', "world"],
  ["a password in JSON in JSON", JSON.stringify(JSON.stringify({ password: "abcdef" })), "abcdef"],
  ["a bearer token beside the word token", "token: Bearer abcdefghijklmnop1", "abcdefghijklmnop1"],
  ["any authorization header", "Authorization: Digest username=ann, response=abcdef", "abcdef"],
  ["a cookie header", "Cookie: session=abcdef; theme=dark", "abcdef"],
  ["a header that names its key", "X-Vendor-Api-Key: abcdef", "abcdef"],
  ["a variable in a command", "STRIPE_KEY=abcdef node app.js", "abcdef"],
  ["a password on a command line", "mysqldump --password abcdef db", "abcdef"],
  ["a user and password for curl", "curl -s -u ann:abcdef https://example.com", "abcdef"],
  ["a signed address", "https://blob.example/x?sv=1&sig=abcdefghij%3D", "abcdefghij"],
  ["a key in an address", { url: "https://maps.example/search?q=tea&key=abcdefghij" }, "abcdefghij"],
  ["a key that comes first in an address", "GET https://maps.example/?key=abcdefghij&q=tea", "abcdefghij"],
]

test.each(secrets)("%s is masked, and only a digest of the original is kept", (_what, value, secret) => {
  const masked = mask(value)
  expect(masked.text).not.toContain(secret)
  expect(masked.text).toContain("***")
  expect(masked.digest).toMatch(/^[\w-]{22}$/)
})

test("a password beside a very long text is masked too", () => {
  const masked = mask({ blob: "x".repeat(100_000), password: "hunter2" })
  expect(masked.text).not.toContain("hunter2")
  expect(mask({ password: "hunter2", blob: "x".repeat(100_000) }).text).toMatch(/^\{"password":"\*\*\*"/)
})

test("a secret that a tool repeats in its error is masked there too", () => {
  const { hidden } = mask({ password: "hunter2-x" })
  expect(text("The word hunter2-x is wrong.", hidden)).toBe("The word *** is wrong.")
  expect(mask({ echo: "it was hunter2-x" }, [], hidden).text).toBe('{"echo":"it was ***"}')
})

test("a value without secrets is unchanged and has no digest", () => {
  expect(mask({ a: 1, keyboard: "qwerty" })).toEqual({ text: '{"a":1,"keyboard":"qwerty"}', length: 27 })
  expect(mask({ key: "LANG", value: "de" }).text).toBe('{"key":"LANG","value":"de"}')
  expect(mask({ key: "LANG" }).text).toBe('{"key":"LANG"}')
  expect(mask({ max_tokens: 5, passed: true, compass: "north" }).text).toBe(
    '{"max_tokens":5,"passed":true,"compass":"north"}',
  )
})

const harmless: [string, unknown][] = [
  ["a public key by its name", { publicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA ann@example" }],
  ["keys of tables", { primary_key: "id", foreignKey: "order_id", sortKey: "at", partition_key: "day" }],
  ["words that end like key", { monkey: "capuchin", hotkey: "ctrl+c", turkey: "dinner", keyboard: "qwerty" }],
  ["counts of tokens", { max_tokens: 5, totalTokens: 7, token_count: 3, tokens_used: 2 }],
  ["a tokenizer", { tokenizer: "cl100k", token_type: "bearer" }],
  ["a secretary", { secretary: "ann" }],
  ["an author and an authority", { author: "ann", authority: "city", authored: true }],
  ["a path and a pattern", { path: "src/a.ts", pattern: "*.ts", compat: "es5" }],
  ["a passage and a compass", { passage: "north", compass: "west", passed: true, bypass: "no" }],
  ["an address with a port and an @ in its path", "http://example.com:8080/a@2x.png"],
  ["an address with a user and no password", "ssh://git@example.com:22/a.git"],
  ["a package in a scope", "https://registry.example/@scope/name"],
  ["a mail address", "write to ann@example.com, or call bob:carl"],
  ["a certificate", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"],
  ["a public PEM key", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"],
  ["basic and bearer as words", "basic authentication, Basic JavaScript and bearer authentication are schemes"],
  ["names of columns", "create index pk_customer_orders on sk_orders (rk_customer_identifier)"],
  ["a library's name", "sk-learn-contrib and pk-something-very-long"],
  ["a variable of npm", "npm_config_user_agent_something_long"],
  ["a short thing that begins like a token", "ghp_short, xoxb-1, AKIA1234, hf_model, glpat-x, eyJust"],
  ["a commit", "3f786850e387550fdab836ed7e6dc881de23001b"],
  ["an id", "018f2b6e-7c1a-7d2e-9b3a-5c6d7e8f9a0b"],
  ["a digest", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  ["sentences about secrets", "The password must not be empty. Tokens expire. A secret is kept."],
  ["users of a container", "docker run --user 1000:1000 image; chown ann:staff file"],
  ["a set of keys", "PRIMARY_KEY=id FOREIGN_KEY=order"],
  ["a folder in a shell", "PWD=/home/ann OLDPWD=~/x pwd: /tmp"],
  ["a time", "12345678:59 and 10:20:30"],
  ["a version", "v1.2.3-rc.4+build.567 of @scope/name@1.2.3"],
  ["a variable without a value", "API_KEY=\nTOKEN:\nPASSWORD="],
  ["a key in an address that only orders", "https://example.com/list?key=name&sort_key=modification&monkey=chimpanzee"],
]

test.each(harmless)("%s stays readable", (_what, value) => {
  expect(mask(value).text).toBe(JSON.stringify(value))
})

test("a secret found in a text is masked where a tool repeats it, and an ordinary word is not", () => {
  const { hidden } = mask({ command: "login --password hunter2-hunter2; set token: string" })
  expect(text("hunter2-hunter2 is no string.", hidden)).toBe("*** is no string.")
})

test("everything a schema marks as secret is masked where a tool repeats it", () => {
  const { hidden, text: shown } = mask({ login: { user: "ann-marie", pin: 4711 } }, [["login"]])
  expect(shown).toBe('{"login":"***"}')
  expect(text("ann-marie has 4711", hidden)).toBe("*** has ***")
})

const adversarial: [string, string][] = [
  ["beginnings of JWTs", "eyJaaaaaaaa-"],
  ["beginnings of keys", "-----BEGIN PRIVATE KEY "],
  ["capitals behind a beginning", "-----BEGIN AAAA "],
  ["beginnings of addresses", "a://"],
  ["dots and letters", "a.a"],
  ["colons and letters", "a:a-"],
  ["users without an end", "a://b:"],
  ["tokens too short", "sk-aaa-"],
  ["names without a value", "password: "],
  ["flags without a value", " --token "],
  ["header names", "x-x-key"],
  ["capital names", "A_KEY_"],
  ["curl", "curl -u "],
  ["quotes", 'token="'],
  ["escapes", 'token="\\\\'],
  ["words before base64", "Basic aaaa"],
  ["one word", "a"],
  ["one digit", "1"],
  ["blanks", " "],
]

test.each(adversarial)("masking a megabyte of %s takes linear time", (_what, piece) => {
  const long = piece.repeat(Math.ceil(1_000_000 / piece.length))
  hideSecrets(long)
  hideSecrets(`${long}@`)
  mayHoldSecret(long)
  expect(mask({ [long]: long, list: [long] }).text.length).toBeLessThan(9000)
  expect(text(long).length).toBeLessThan(4010)
})

test("a long text is shortened, and its length and digest are kept", () => {
  const masked = mask("é".repeat(9000))
  expect(masked.text.length).toBeLessThan(4010)
  expect(masked).toMatchObject({ length: 9000, digest: expect.any(String) })
})

test("law: equal values have equal digests, other values others, and no secret value under a secret name ever shows", () => {
  const name = fc.constantFrom("password", "apiKey", "auth_token", "client-secret", "Cookie")
  const secret = fc.string({ minLength: 6, maxLength: 30 }).map((value) => `§${value}§`)
  fc.assert(
    fc.property(name, secret, fc.jsonValue({ maxDepth: 3 }), (key, value, rest) => {
      const masked = mask({ rest, deep: [{ [key]: value }] })
      expect(masked.text).not.toContain(JSON.stringify(value).slice(1, -1))
      expect(mask({ rest, deep: [{ [key]: value }] }).digest).toBe(masked.digest)
      expect(mask({ rest, deep: [{ [key]: `${value}!` }] }).digest).not.toBe(masked.digest)
    }),
    { numRuns: 100 },
  )
})
