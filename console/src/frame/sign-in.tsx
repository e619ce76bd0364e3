import { useEffect, useState, type ReactNode } from "react"
import { useNavigate } from "@tanstack/react-router"
import { post, problemOf } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { meQuery } from "../api/queries.ts"
import { rememberSession } from "../api/session.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Gate } from "../ui/icon.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { languages, useLanguage, useWords } from "../words/words.tsx"
import look from "./sign-in.module.css"

/** The box in the middle of an empty page: sign-in, signed out, no server. */
export function GateBox({ title, children, foot }: { title: string; children: ReactNode; foot?: string }) {
  const { language, choose } = useLanguage()
  const other = language === "en" ? "zh" : "en"
  return (
    <div className={look["solo"]}>
      <main className={look["gatebox"]} id="main">
        <div className={look["gb-brand"]}>
          <Gate size="l" />
          <b>Quartermaster</b>
        </div>
        <section className={look["gb"]}>
          <h1>{title}</h1>
          {children}
        </section>
        <p className={look["gb-f"]}>
          {foot}{" "}
          <button
            type="button"
            className="linklike"
            lang={other === "zh" ? "zh-CN" : "en"}
            onClick={() => choose(other)}
          >
            {languages[other].language}
          </button>
        </p>
      </main>
    </div>
  )
}

/** Says how to get a link, and takes a person's token. */
export function HowToSignIn({ title, more }: { title: string; more: string }) {
  const words = useWords()
  return (
    <GateBox title={title}>
      <p className="soft">{more}</p>
      <div className={look["gb-c"]}>
        <CopyText text="qm open" />
      </div>
      <p className="hint">{words.signIn.open}</p>
      <TokenForm />
    </GateBox>
  )
}

/** Signs in from a machine that has nothing of ours but this page. The token is sent once and stored nowhere here. */
function TokenForm() {
  const words = useWords()
  const navigate = useNavigate()
  const problemText = useProblemText()
  const [token, setToken] = useState("")
  const [problem, setProblem] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      await beginSession({ token: token.trim() })
      if (location.pathname === "/signin") await navigate({ to: "/inbox", replace: true })
    } catch (error) {
      setProblem(error)
      setBusy(false)
    }
  }
  return (
    <form
      className={look["gb-t"]}
      onSubmit={(event) => {
        event.preventDefault()
        void signIn()
      }}
    >
      <label className="field">
        <span className="lab">{words.signIn.token}</span>
        <input
          className="in"
          type="password"
          name="token"
          autoComplete="off"
          spellCheck={false}
          placeholder="qmp_…"
          maxLength={500}
          required
          aria-invalid={problem !== undefined}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </label>
      {problem !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problemText(problem)}
        </p>
      )}
      <button type="submit" className={`btn btn-l ${look["btn-w"]}`} disabled={busy || token.trim() === ""}>
        {words.signIn.withToken}
      </button>
      <p className="hint">{words.signIn.tokenMore}</p>
    </form>
  )
}

/** Redeems a link or a token. The page keeps the second secret of the session, as a link's does. */
async function beginSession(proof: { link: string } | { token: string }): Promise<void> {
  rememberSession((await post<{ secret: string }>("/v1/session", proof)).secret)
  await queries.resetQueries(meQuery)
}

/**
 * `/signin#<token>`: the token stays behind the #, so that no server, proxy or log sees it in an address, and only the
 * button uses it up. A scanner that opens the link changes nothing.
 */
export function SignInPage() {
  // A new link pasted over an old one changes only what is behind the #: the browser loads nothing.
  const [link, setLink] = useState(() => location.hash.slice(1))
  useEffect(() => {
    const listen = () => setLink(location.hash.slice(1))
    window.addEventListener("hashchange", listen)
    return () => window.removeEventListener("hashchange", listen)
  }, [])
  return <SignIn key={link} link={link} />
}

function SignIn({ link }: { link: string }) {
  const words = useWords()
  const navigate = useNavigate()
  const [failed, setFailed] = useState<string>()
  const [busy, setBusy] = useState(false)

  if (link === "") return <HowToSignIn title={words.signIn.neededTitle} more={words.signIn.neededMore} />
  if (failed !== undefined) return <HowToSignIn title={words.signIn.failedTitle} more={words.signIn.failedMore} />

  const signIn = async () => {
    setBusy(true)
    try {
      await beginSession({ link })
      await navigate({ to: "/inbox", replace: true })
    } catch (error) {
      setFailed(problemOf(error).detail)
    } finally {
      setBusy(false)
    }
  }
  return (
    <GateBox title={words.signIn.title} foot={words.signIn.notYou}>
      <p className="soft">{words.signIn.once}</p>
      <button
        type="button"
        className={`btn btn-l btn-p ${look["btn-w"]} ${look["gb-go"]}`}
        disabled={busy}
        onClick={() => void signIn()}
      >
        {words.signIn.button}
      </button>
      <p className="hint">{words.signIn.usedNothing}</p>
    </GateBox>
  )
}
