import { useInfiniteQuery } from "@tanstack/react-query"
import { managesOrganisation, type AgentInfo } from "../tools/queries.ts"
import { chatsQuery } from "./queries.ts"

/** The agent that is offered first: the one that people talked to last. None that can change the organisation, if possible. */
export function useLikelyAgent(open: readonly AgentInfo[]): AgentInfo | undefined {
  const { data } = useInfiniteQuery(chatsQuery(""))
  const isAgent = (name: string) => open.some(({ id }) => id === name)
  const last = data?.pages[0]?.items.find(({ startedBy }) => !isAgent(startedBy))?.agentId
  const likely = open.filter((each) => !managesOrganisation(each))
  return likely.find(({ id }) => id === last) ?? likely[0] ?? open[0]
}
