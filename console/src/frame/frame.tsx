import { useEffect } from "react"
import { useQuery } from "@tanstack/react-query"
import { Outlet } from "@tanstack/react-router"
import { problemOf } from "../api/http.ts"
import { goLive } from "../api/live.ts"
import { meQuery } from "../api/queries.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Later } from "../ui/later.tsx"
import { Notices } from "../ui/notices.tsx"
import { useWords } from "../words/words.tsx"
import { useAttention } from "./attention.ts"
import { FreezeProvider } from "./freeze.tsx"
import { KeysHelp } from "./keys-help.tsx"
import { Navigation, PhoneTabs } from "./navigation.tsx"
import { Palette } from "./palette.tsx"
import { GateBox, HowToSignIn } from "./sign-in.tsx"
import { Strips } from "./strips.tsx"
import look from "./sign-in.module.css"

/** Everything around a page, for somebody who is signed in. Whoever is not is told how. */
export function Frame() {
  const words = useWords()
  const { data, error } = useQuery({
    ...meQuery,
    refetchInterval: ({ state }) => (state.data === undefined ? 3000 : 60_000),
  })
  const status = error === null ? undefined : problemOf(error).status

  if (status === 401 || status === 403)
    return <HowToSignIn title={words.signIn.neededTitle} more={words.signIn.neededMore} />
  if (data !== undefined) return <SignedIn />
  if (error !== null)
    return (
      <GateBox title={words.signIn.offlineTitle}>
        <p className="soft">{words.signIn.offlineMore}</p>
        <div className={look["gb-c"]}>
          <CopyText text="qm serve" />
        </div>
      </GateBox>
    )
  return (
    <Later>
      <div className="app" aria-busy="true">
        <div className="nav" />
        <div className="main" />
      </div>
    </Later>
  )
}

function SignedIn() {
  const words = useWords()
  useAttention()
  useEffect(() => {
    goLive()
  }, [])
  return (
    <FreezeProvider>
      <div className="app">
        <a className="skip" href="#main">
          {words.frame.skip}
        </a>
        <Navigation />
        <div className="main">
          <Strips />
          <Outlet />
        </div>
        <PhoneTabs />
        <Notices />
      </div>
      <Palette />
      <KeysHelp />
    </FreezeProvider>
  )
}
