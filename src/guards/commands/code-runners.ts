import { foreignSubcommand } from "./git.ts"
import { programOf } from "./programs.ts"
import { baseName, isLesserWrapper, canonicalProgramName, shells } from "./wrappers.ts"

/**
 * Why a proved command may run code or programs that were not checked; the text begins a sentence. Interpreters and
 * wrappers that are never proved are not listed here. Tools that build or test a project by its usual file (such as make)
 * may run, because writing that file asks a person.
 */
export function runsCodeBecause(words: readonly string[]): string | undefined {
  const [program = "", ...args] = words
  const name = baseName(program)
  if (name === "git") {
    const foreign = foreignSubcommand(words)
    return foreign === undefined ? undefined : `'git ${foreign}' is an alias or a program that is not git's own`
  }
  const known = canonicalProgramName(program)
  if (known !== name) return `'${program}' is another name of '${known}'; use that name`
  if (programOf(program) !== undefined) return undefined
  const stem = name.replace(/[\d.-]+$/, "")
  if (runners.has(name) || runners.has(stem) || shells.test(name) || name.startsWith("git-") || isLesserWrapper(words))
    return `'${program}' runs its arguments as code or as another command`
  const own = [name, stem, compiler.test(name) ? "gcc" : ""].flatMap((key) => running.get(key) ?? [])
  const word = args.find((argument) => [runningOption, ...own].some((pattern) => pattern.test(argument)))
  return word === undefined ? undefined : `'${word}' may have '${program}' run code or another program`
}

/** Interpreters, editors and others that run code from their arguments, from a file or by their settings. */
const runners = new Set(
  [
    "guile sbcl clisp ecl ccl abcl racket mzscheme scheme chez chezscheme petite mit-scheme csi chibi-scheme gsi bigloo gosh janet fennel hy clojure clj bb lein",
    "octave octave-cli matlab scilab scilab-cli gnuplot maxima gp sage gap polymake ocaml ocamlrun utop ghc runhaskell idris agda coqtop swipl yap gprolog prolog gst gforth factor",
    "qjs njs d8 js jsc rhino jjs mujs duk tjs hermes gjs cjs zx vite-node babel-node ts-node-dev esno nodemon coffee electron",
    "swift kotlin kotlinc kscript tcc bpftrace dtrace stap raku rakudo moar pike nickle crystal nim dart v haxe haxelib sbt mono jruby truffleruby jython ipython bpython micropython graalpy pdb texlua luatex lualatex luahbtex regina rexx picat hhvm phpdbg",
    "nawk original-awk goawk bioawk igawk pgawk frawk rename prename perl-rename file-rename",
    "vimdiff rvim gvim rview editor sensible-editor sensible-pager sensible-browser run-mailcap pico joe jed micro hx helix kak emacsclient mg ne code mc ranger fzf xdg-open lesspipe lesspipe.sh",
    "lftp ftp mutt neomutt mail mailx smbclient w3m lynx elinks duckdb sqlite usql clickhouse redis-cli gs ghostscript",
    "ansible ansible-playbook ansible-console ansible-pull salt salt-call puppet chef-client fab pyinfra terraform tofu packer pulumi nix nix-shell nix-build guix snap corepack",
    "ninja samu ldd npm-run-all run-s run-p sbatch qsub pssh pdsh clush systemd-nspawn machinectl runc crun execline fakeroot-ng daemon supervise tcpserver websocketd ttyd gotty exiftool crash ctest rpmbuild rpmspec conan autoconf autoreconf autom4te automake aclocal",
  ].flatMap((line) => line.split(" ")),
)

const compiler = /^(?:[\w.]+-)*(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|c89|c99|gfortran|gdc|cpp)(?:-[\d.]+)?$/

/** Options that make most programs run another program or code. */
const runningOption =
  /^--?(?:eval|exec(?:ute|dir|-batch)?|toolexec|vettool|command|cmd|run[-_]under|shell[-_]escape|enable-write18|(?:[\w-]+-)?(?:program|cmd|command|plugin|wrapper|askpass|linker|shell|interpreter|pager|editor|hook))(?:=|$)/

/** Per program, arguments that make it run another program or code. Option names may be abbreviated. */
const running = new Map<string, RegExp>([
  ["gcc", /^(?:-wrapper|-f(?:pass-)?plugin|-B|--?specs|@|-Xclang|-load|--config|-fuse-ld|--?ld-path|-Wl,.*plugin)/],
  ["ld", /^(?:-+plugin|@)/],
  ["split", /^--f/],
  ["install", /^--strip-p/],
  ["tcpdump", /^-\w*z/],
  ["wget", /^(?:--use-a|--conf|--exec|-\w*e)/],
  ["curl", /^(?:-\w*K|--conf)/],
  ["rpm", /^(?:--eval|-\w*E|--pipe|--def|-D|--macros|--load|--rcfile|-[iUF]|--inst|--upg)/],
  ["pandoc", /^(?:-[FLd]|--fi|--lu|--pdf-e|--def|.*\.lua$)/],
  ["bsdtar", /^(?:--use-c|-\w*I)/],
  ["star", /^(?:-?compress-pro|-?rsh)/],
  ["cpio", /^--rsh/],
  ["zip", /^(?:-\w*T|--unzip|--test)/],
  ["hg", /^(?:--conf|-R|--repo|--cwd|debugshell$)/],
  ["svn", /^--(?:diff|diff3|editor|merge)?-?cmd|^--conf/],
  ["go", /^(?:run|generate|tool|-w)$|^--?(?:toolexec|vettool|exec|overlay|modfile)/],
  ["rustc", /linker|^-Z/],
  ["cargo", /^(?:--config|-Z|-C|--manifest)/],
  ["rake", /^(?:-[frReIEpC]|--(?:rakefile|require|execute|libdir|system))/],
  ["just", /^(?:-[fdc]|--(?:justfile|working|command|shell|set))/],
  ["task", /^(?:-[tdg]|--(?:taskfile|dir|global))/],
  ["scons", /^(?:-[fCY]|--(?:file|site|directory|sconstruct))/],
  ["bmake", /^-[fCIVvm]|=/],
  ["cmake", /^(?:-[PEC]|--(?:build|install|open|toolchain)|-D.*(?:COMPILER|LAUNCHER|TOOLCHAIN|RULE|COMMAND|PROGRAM|LINKER))/],
  ["mvn", /^(?:-[fsg]$|--file|--settings|exec:|antrun:)/],
  ["gradle", /^(?:-[bcIp]$|--(?:init|build-file|settings|project-dir|include))/],
  ["ant", /^-(?:f|file|buildfile|lib|main|listener|logger|D.*executor)/],
  ["bazel", /^run$/],
  ["tox", /^(?:-[cx]|--(?:conf|override|root|workdir))|^(?:exec|e|--)$/],
  ["nox", /^(?:-f|--noxfile)/],
  ["pytest", /^(?:-[pco]|--(?:rootdir|confcutdir|override))/],
  ["jest", /^(?:-c|--(?:config|setup|global|transform|runner|reporters|test(?:Runner|Env|Sequencer)|resolver|preset))/],
  ["mocha", /^(?:-[rn]$|--(?:require|config|package|import|loader|opts|node-option))/],
  ["vitest", /^(?:-[cr]|--(?:config|root|globalSetup|environment|runner|execArgv|dir))/],
  ["nvm", /^run$/],
  ["zig", /^(?:run|cc|c\+\+)$/],
  ["stack", /^(?:exec|run|runghc|runhaskell|ghci?|script|repl|eval)$/],
  ["cabal", /^(?:exec|run|repl|v2-exec|v2-run)$/],
  ["mix", /^(?:run|eval|do|cmd)$/],
  ["javac", /^(?:-processor|--processor|-Xplugin|-J|@)/],
  ["protoc", /^--plugin/],
  ["asciidoctor", /^(?:-[rITE]|--(?:require|load|template))/],
  ["ctags", /^--?(?:options|_)/],
  ["nmap", /^--(?:script|datadir)/],
  ["ssh-keygen", /^-\w*[Dw]/],
  ["ssh-add", /^-\w*[sS]/],
  ["gpg", /^--(?:[\w-]+-program|exec-path|photo|options|homedir|load)/],
  ["openssl", /^-(?:engine|provider|config)|^engine$/],
  ["dpkg", /^(?:-[irP]$|--(?:install|unpack|configure|remove|purge|pre-|post-))/],
  ["apt", /^(?:-[oc]|--(?:option|config))|^(?:install|reinstall|build-dep)$/],
  ["apt-get", /^(?:-[oc]|--(?:option|config))|^(?:install|reinstall|build-dep)$/],
  ["dnf", /^(?:install|reinstall|--setopt.*|-c.*|--config.*)$/],
  ["fd", /^(?:-\w*[xX]|--exec)/],
  ["fdfind", /^(?:-\w*[xX]|--exec)/],
  ["ag", /^--pager/],
  ["ack", /^--(?:pager|output|ackrc)/],
  ["ip", /^(?:-b|-batch|-force)$|^exec$/],
  ["latexmk", /^-+(?:e|r|.*latex=)|escape/],
  ...["tex", "latex", "pdftex", "pdflatex", "etex", "xetex", "xelatex", "eptex", "uptex", "context"].map((name): [string, RegExp] => [name, /shell-(?:escape|restricted)|write18/]),
]) // prettier-ignore
