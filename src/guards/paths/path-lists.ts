import { foldName } from "./path-text.ts"

export type FileAccess = "read" | "write"

/**
 * Why no tool may read or write a path of this name, whatever the rules say; undefined when it may. Only names are
 * compared, so that it also holds for files that do not exist yet. `path` is relative to the workspace, or absolute
 * outside.
 */
export function protectedBecause(path: string, use: FileAccess): string | undefined {
  const steps = stepsOf(path)
  const last = steps.length - 1
  for (let at = 0; at <= last; at++) {
    const mark = protectedNames.get(steps[at]!) ?? protectedInside.get(steps[at]!)?.(steps[at + 1], use)
    if (mark !== undefined && (use === "write" || mark.isUnreadable)) return mark.because
  }
  return last >= 0 && isPrivateKey(withoutBackup(steps[last]!)) ? "it is a private key" : undefined
}

/** Why a person is asked each time; undefined when that is not needed. Does not check protected paths. */
export function confirmedBecause(path: string, use: FileAccess): string | undefined {
  const steps = stepsOf(path)
  const last = steps.length - 1
  for (let at = 0; at <= last; at++) {
    const step = steps[at]!
    const because = secretFolders.get(step) ?? confirmedInside.get(step)?.(steps[at + 1], use)
    if (because !== undefined) return because
    if (use === "write" && runFolders.has(step)) return runsLater
  }
  if (last < 0) return undefined
  const name = steps[last]!
  const original = withoutBackup(name)
  if (isEnvironment(original)) return hasEnvironment
  if (isSecret(original)) return hasCredentials
  return use === "write" && runsByName(name, steps[last - 1]) ? runsLater : undefined
}

/**
 * The name of the file that this is a backup of: `name~`, `name.bak`, `#name#` and Vim's `.name.swp` have its content.
 */
function withoutBackup(name: string): string {
  if (!backup.test(name)) return name
  const swapped = /^\.(.+)\.sw[op]$/.exec(name)?.[1]
  return swapped ?? (name.replace(/^#/, "").replace(backup, "").replace(backup, "") || name)
}

const backup = /(?:[~#]|\.(?:bak|backup|old|orig|save|sw[op]))$/

/** Reports whether the lists name children of this folder. */
export function hasListedChildren(path: string): boolean {
  const last = stepsOf(path).at(-1)
  return last !== undefined && (protectedInside.has(last) || confirmedInside.has(last))
}

/** Reports whether the path belongs to a version control system. Searches leave it out. */
export function isVersionControl(path: string): boolean {
  return stepsOf(path).some((step) => versionControl.has(step))
}

interface Mark {
  readonly because: string
  /** Protected from reading too. */
  readonly isUnreadable?: boolean
}

const words = (text: string): string[] => text.trim().split(/\s+/)
const versionControl = new Set([".git", ".hg", ".svn", ".jj", ".bzr", "cvs"])
const hasCredentials = "it has credentials"
const hasEnvironment = "it has the environment, where secrets are"
const runsLater = "its content runs later without asking anybody"

const protectedNames = new Map<string, Mark>([
  ...marks("it belongs to version control, which runs what its settings say", ".git .hg .svn .jj .bzr"),
  ...marks(
    "it configures agents, editors or what runs by itself",
    `.claude .claude.json .mcp.json mcp.json .cursor .cursorrules .cursorignore .windsurf .windsurfrules .codex .gemini
     .qwen .opencode opencode.json opencode.jsonc .continue .cline .clinerules .roo .roomodes .goose .goosehints .kiro
     .amazonq .aider.conf.yml .aider .copilot .junie .trae .augment .factory .crush .crush.json crush.json .kilocode
     .vscode .vscode-server .idea .fleet .zed .husky .devcontainer .devcontainer.json`,
  ),
  ...marks(
    "it configures a shell or a program that reads it at its start",
    `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
     .zsh_aliases .kshrc .cshrc .tcshrc .login .logout .inputrc .envrc .direnvrc .gitconfig .gitmodules .hgrc .npmrc
     .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.js bunfig.toml .ripgreprc .curlrc .wgetrc .vimrc .nvimrc .exrc .gvimrc
     .emacs .emacs.d .dir-locals.el .tmux.conf .screenrc .gdbinit .lldbinit .pythonrc .pythonstartup .irbrc .pryrc
     .rprofile .psqlrc .sqliterc .bazelrc .mise.toml mise.toml .xinitrc .xprofile .xsession .pam_environment pip.conf
     authorized_keys authorized_keys2 .rhosts .forward sitecustomize.py usercustomize.py`,
  ),
  ...marks(
    "it is Quartermaster's own",
    ".quartermaster quartermaster.yml quartermaster.yaml quartermaster.json quartermaster.local.yml quartermaster.local.yaml quartermaster.local.json",
  ),
  ...marks("it has private keys", ".ssh .gnupg .password-store", true),
])

type Inside<T> = (next: string | undefined, use: FileAccess) => T | undefined

/**
 * Folders of which only some children count. Moving something to the folder itself counts as writing those children.
 */
const protectedInside = new Map<string, Inside<Mark>>([
  [".cargo", among("config config.toml", { because: "it says what programs Cargo runs" })],
  [
    ".config",
    among("fish git systemd autostart nvim direnv mise quartermaster", {
      because: "it configures programs that read it at their start",
    }),
  ],
])

const confirmedInside = new Map<string, Inside<string>>([
  [".git", reading("config config.worktree", "it may have credentials")],
  [".config", among("gcloud gh hub doctl op rclone", hasCredentials)],
  [".cargo", among("credentials credentials.toml", hasCredentials)],
  [".docker", among("config.json", hasCredentials)],
  [".m2", among("settings.xml settings-security.xml", hasCredentials)],
  [".yarn", writing("releases plugins")],
  [".github", writing("workflows actions hooks")],
  [".gitea", writing("workflows actions")],
  [".forgejo", writing("workflows actions")],
])

const secretFolders = new Map([
  ...words(".aws .azure .kube .oci .terraform.d .gcloud .secrets").map((name) => [name, hasCredentials] as const),
  ...words(".env .envs").map((name) => [name, hasEnvironment] as const),
])

const secretNames = new Set(
  words(`.netrc _netrc .pgpass .my.cnf .mylogin.cnf .git-credentials .gitcookies .npmrc .yarnrc.yml .pypirc .dockercfg
    .htpasswd .vault-token .boto .s3cfg .databrickscfg .snowflake credentials credentials.json credentials.yml
    credentials.yaml credentials.toml credentials.xml credentials.csv secrets.json secrets.yml secrets.yaml secrets.toml
    secrets.env secret.json secret.yml secret.yaml application_default_credentials.json auth.json local.settings.json
    .erlang.cookie .dockerconfigjson .smbcredentials .rclone.conf rclone.conf shadow gshadow token.json tokens.json
    .dev.vars kubeconfig .secret .vault_pass .bash_history .zsh_history .python_history .psql_history .mysql_history
    .node_repl_history`),
)

const runFolders = new Set(words(".circleci .buildkite .woodpecker .teamcity .githooks .tekton .mvn"))

const runNames = new Set(
  words(`package.json makefile gnumakefile justfile .justfile taskfile.yml taskfile.yaml rakefile gemfile setup.py
    conftest.py pyproject.toml noxfile.py tox.ini build.rs dockerfile containerfile docker-compose.yml
    docker-compose.yaml compose.yml compose.yaml procfile vagrantfile jenkinsfile .gitlab-ci.yml .travis.yml
    appveyor.yml .appveyor.yml bitbucket-pipelines.yml azure-pipelines.yml .drone.yml .cirrus.yml cloudbuild.yaml
    cloudbuild.yml buildspec.yml .pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml .lefthook.yml
    .lintstagedrc .gitattributes binding.gyp composer.json deno.json deno.jsonc netlify.toml vercel.json fly.toml
    build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradlew gradle-wrapper.properties
    gradle-wrapper.jar mvnw pom.xml build.xml build.sbt cargo.toml cmakelists.txt meson.build sconstruct build.zig
    package.swift mix.exs pnpm-workspace.yaml head`),
)

const gitHooks = new Set(
  words(`pre-commit prepare-commit-msg commit-msg post-commit pre-push pre-rebase post-checkout post-merge post-rewrite
    pre-receive update post-receive post-update applypatch-msg pre-applypatch post-applypatch pre-merge-commit
    fsmonitor-watchman push-to-checkout reference-transaction`),
)

function marks(because: string, names: string, isUnreadable = false): [string, Mark][] {
  return words(names).map((name) => [name, { because, isUnreadable }])
}

function among<T>(names: string, found: T): Inside<T> {
  const set = new Set(words(names))
  return (next, use) => ((next === undefined ? use === "write" : set.has(next)) ? found : undefined)
}

function reading(names: string, because: string): Inside<string> {
  const set = new Set(words(names))
  return (next, use) => (use === "read" && next !== undefined && set.has(next) ? because : undefined)
}

function writing(names: string): Inside<string> {
  const inside = among(names, runsLater)
  return (next, use) => (use === "write" ? inside(next, use) : undefined)
}

/** A cache of one entry: callers check the same path several times in a row. */
let lastPath = ""
let lastSteps: readonly string[] = []

function stepsOf(path: string): readonly string[] {
  if (path === lastPath) return lastSteps
  const steps: string[] = []
  for (const step of path.split("/")) if (step !== "" && step !== ".") steps.push(foldName(step))
  lastPath = path
  lastSteps = steps
  return steps
}

function isPrivateKey(name: string): boolean {
  if (/^id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?($|[._-])/.test(name)) return !name.endsWith(".pub")
  const dot = name.lastIndexOf(".")
  if (dot === -1) return false
  const ending = name.slice(dot + 1)
  if (ending === "pem") return !/(^|[._-])(cert|certs|certificate|chain|fullchain|bundle|ca|cacert|public|pub|csr|dhparam)([._-]|\d*\.)/.test(name) // prettier-ignore
  return keyEndings.has(ending)
}

const keyEndings = new Set(words("key p12 pfx ppk jks keystore kdbx p8 pk8 asc-key agekey"))

/** Files named as examples, such as `.env.example`, have no secrets. */
function isEnvironment(name: string): boolean {
  if (!/^\.env($|[^a-z])/.test(name)) return name === ".envrc" || name.endsWith(".env")
  return !/^\.env[._-](example|sample|template|dist|defaults|schema)$/.test(name)
}

function isSecret(name: string): boolean {
  if (secretNames.has(name)) return true
  if (name.endsWith(".tfvars") || name.endsWith(".tfstate") || name.endsWith(".ovpn")) return true
  return /^(service[-_]?account|client[-_]secret|gcp[-_]?key).*\.json$/.test(name)
}

function runsByName(name: string, folder: string | undefined): boolean {
  if (runNames.has(name) || name.endsWith(".mk") || name.endsWith(".gemspec")) return true
  if (/^(dockerfile|docker-compose|makefile)\./.test(name)) return !/\.(md|rst|adoc|html)$/.test(name)
  return folder === "hooks" && gitHooks.has(name)
}
