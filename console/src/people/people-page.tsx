import { useQuery } from "@tanstack/react-query"
import { useState, type FormEvent, type ReactNode } from "react"
import type { PersonRowJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useServerTime } from "../api/clock.ts"
import { post, remove } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { Marked } from "../ui/marked.tsx"
import { Select } from "../ui/select.tsx"
import { agoText, spanText } from "../words/time-text.ts"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { agentsQuery } from "../tools/queries.ts"
import { peopleQuery, tokensQuery } from "./queries.ts"
import look from "./people.module.css"

/** Shows the people who answer approvals, and the programs that act as agents. Secrets are shown once, when made. */
export function PeoplePage() {
  const words = useWords()
  return (
    <div className={`${look["people"]} scroll`} tabIndex={0} role="group" aria-label={words.govern.org.people}>
      <div className={look["people-b"]}>
        <People />
        <Tokens />
      </div>
    </div>
  )
}

function People() {
  const words = useWords()
  const { id: me, scopes } = useMe()
  const manages = scopes.includes("manage")
  const query = useQuery(peopleQuery)
  const { data } = query
  const now = useServerTime(60_000)
  const add = useMaking("/v1/people", "people", ({ id, name, roles }) => ({
    id,
    ...(name === "" ? {} : { name }),
    roles: (roles ?? "").split(/[\s,]+/).filter((role) => role !== ""),
  }))
  return (
    <section aria-labelledby="people-h">
      <h2 id="people-h">{words.people.people}</h2>
      <p className="dim">{words.people.peopleMore}</p>
      {data === undefined && <Loading of={query} lines={2} />}
      {data?.length === 0 && <p className="soft">{words.people.nobody(me)}</p>}
      {data !== undefined && data.length > 0 && (
        <Table
          heads={[words.people.person, words.people.roles, words.people.mayDo, words.govern.session.lastSignIn, ""]}
        >
          {data.map((person) => (
            <tr key={person.id}>
              <td>
                <b>{printable(person.name)}</b> {person.id !== person.name && <code className="dim">{person.id}</code>}
              </td>
              <td>{printable(person.roles.join(", "))}</td>
              <td className="soft">
                <code>{person.scopes.join(", ")}</code>
              </td>
              <td className="soft">
                <SignedIn person={person} now={now} mayEnd={manages || person.id === me} />
              </td>
              <td className="r">
                {manages && person.source === "store" && (
                  <Ending
                    label={words.people.remove}
                    path={`/v1/people/${encodeURIComponent(person.id)}`}
                    topic="people"
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {manages && (
        <Making making={add} submit={words.people.addPerson}>
          <Field name="id" label={words.people.id} required placeholder="li" />
          <Field name="name" label={words.people.name} placeholder="Li Wei" />
          <Field name="roles" label={words.people.rolesHint} placeholder="lead" />
        </Making>
      )}
      <Secret secret={add.secret} text={words.people.personToken} />
    </section>
  )
}

interface SignedInProps {
  readonly person: PersonRowJson
  readonly now: number
  readonly mayEnd: boolean
}

/** Shows a person's last sign-in, the places where they are signed in, and whether they have a PIN. */
function SignedIn({ person, now, mayEnd }: SignedInProps) {
  const words = useWords()
  const text = words.govern.session
  const { lastSignIn, sessions, pin, tokenExpiresAt } = person
  const lastEnd = Math.max(...sessions.map(({ expiresAt }) => expiresAt))
  return (
    <>
      {lastSignIn === undefined ? text.never : agoText(now - lastSignIn, words)}
      {`${words.card.comma}${text.pin} ${pin ? text.set : text.notSet}`}
      {tokenExpiresAt !== undefined &&
        `${words.card.comma}${text.tokenEnds(spanText(Math.max(0, tokenExpiresAt - now), words))}`}
      {sessions.length > 0 &&
        `${words.card.comma}${text.sessions(sessions.length, spanText(Math.max(0, lastEnd - now), words))} `}
      {sessions.length > 0 && mayEnd && (
        <Ending label={text.signOut} path={`/v1/people/${encodeURIComponent(person.id)}/sessions`} topic="people" />
      )}
    </>
  )
}

function Tokens() {
  const words = useWords()
  const now = useServerTime(60_000)
  const manages = useMe().scopes.includes("manage")
  const query = useQuery({ ...tokensQuery, enabled: manages })
  const { data } = query
  const { data: agents } = useQuery({ ...agentsQuery, enabled: manages })
  const add = useMaking("/v1/tokens", "tokens", ({ agentId, name, days }) => ({
    agentId,
    ...(name === "" ? {} : { name }),
    ...(days === "" ? {} : { days: Number(days) }),
  }))
  if (!manages) return null
  return (
    <section aria-labelledby="tokens-h">
      <h2 id="tokens-h">{words.people.tokens}</h2>
      <p className="dim">{words.people.tokensMore}</p>
      {data === undefined && <Loading of={query} lines={2} />}
      {data?.length === 0 && <p className="soft">{words.people.noTokens}</p>}
      {data !== undefined && data.length > 0 && (
        <Table heads={[words.people.agent, words.people.name, words.people.made, words.people.ends, ""]}>
          {data.map((token) => (
            <tr key={token.id}>
              <td>
                <b className="mono">{token.agentId}</b>
              </td>
              <td>{token.name}</td>
              <td className="soft">
                {token.createdBy}, {agoText(now - token.createdAt, words)}
              </td>
              <td className="soft">
                {token.expiresAt === null
                  ? words.people.never
                  : words.people.endsIn(spanText(token.expiresAt - now, words))}
              </td>
              <td className="r">
                <Ending
                  label={words.people.revoke}
                  path={`/v1/tokens/${encodeURIComponent(token.id)}`}
                  topic="tokens"
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Making making={add} submit={words.people.addToken}>
        <label className="field">
          <span className="lab">{words.people.agent}</span>
          <Select name="agentId" required defaultValue="">
            <option value="" disabled>
              {words.answer.choose}
            </option>
            {(agents ?? []).map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </Select>
        </label>
        <Field name="name" label={words.people.name} placeholder="CI" />
        <Field name="days" label={words.people.days} placeholder="90" inputMode="numeric" />
      </Making>
      <Secret secret={add.secret} text={words.people.agentToken} />
    </section>
  )
}

interface Made {
  readonly secret: string | undefined
  readonly problem: string | undefined
  readonly make: (event: FormEvent<HTMLFormElement>) => void
}

/** Sends a form, keeps the secret that comes back until the page is left, and reads the list again. */
function useMaking(path: string, topic: string, body: (fields: Record<string, string>) => object): Made {
  const [secret, setSecret] = useState<string>()
  const [problem, setProblem] = useState<unknown>()
  const problemText = useProblemText()
  const make = async (form: HTMLFormElement) => {
    setProblem(undefined)
    const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
    try {
      const { token } = await post<{ token: string }>(path, body(fields))
      setSecret(token)
      form.reset()
      await queries.invalidateQueries({ queryKey: [topic] })
    } catch (error) {
      setProblem(error)
    }
  }
  return {
    secret,
    problem: problem === undefined ? undefined : problemText(problem),
    make: (event) => {
      event.preventDefault()
      void make(event.currentTarget)
    },
  }
}

function Making({ making, submit, children }: { making: Made; submit: string; children: ReactNode }) {
  return (
    <form className="making" onSubmit={making.make}>
      {children}
      <button type="submit" className="btn">
        {submit}
      </button>
      {making.problem !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {making.problem}
        </p>
      )}
    </form>
  )
}

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly placeholder: string
  readonly required?: boolean
  readonly inputMode?: "numeric"
}

function Field({ label, ...input }: FieldProps) {
  return (
    <label className="field">
      <span className="lab">{label}</span>
      <input className="in" autoComplete="off" maxLength={200} {...input} />
    </label>
  )
}

function Secret({ secret, text }: { secret: string | undefined; text: string }) {
  if (secret === undefined) return null
  return (
    <div className={look["secret"]} role="status">
      <p>
        <Marked text={text} />
      </p>
      <CopyText text={secret} />
    </div>
  )
}

function Table({ heads, children }: { heads: readonly string[]; children: ReactNode }) {
  const words = useWords()
  return (
    <div className={look["people-t"]}>
      <table className="tbl">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head}>{head === "" ? <span className="vh">{words.people.change}</span> : head}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** Ends something with a second click, so that a slip of the hand does not. */
function Ending({ label, path, topic }: { label: string; path: string; topic: string }) {
  const words = useWords()
  const [asked, setAsked] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const problemText = useProblemText()
  const end = async () => {
    try {
      await remove(path)
      await queries.invalidateQueries({ queryKey: [topic] })
    } catch (error) {
      setProblem(error)
    }
  }
  if (problem !== undefined) return <span className="hint-wrong">{problemText(problem)}</span>
  return (
    <button
      type="button"
      className={asked ? "btn btn-s" : "btn btn-s btn-q"}
      onClick={() => (asked ? void end() : setAsked(true))}
      onBlur={() => setAsked(false)}
    >
      {asked && <Icon name="alert-triangle" small />}
      {asked ? words.people.really(label) : label}
    </button>
  )
}
