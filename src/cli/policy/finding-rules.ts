import type { Finding } from '../../policy/checks/check.ts'
import type { ReportRule } from '../report/report.ts'

/** What each warning of `policy check` means, for readers who see it in another tool. */
export const findingRules: Readonly<Record<Finding['code'], ReportRule>> = {
  duplicate: {
    summary: 'The same rule is written twice.',
    help: 'Remove one of them. Otherwise a later edit of only one line has no effect.',
  },
  'useless-rule': {
    summary: 'Another line already decides this.',
    help: 'Remove the rule, or correct the other line if it does more than you intend.',
  },
  'never-applies': {
    summary: 'The rule never applies.',
    help: 'No request reaches this rule, so it grants nothing. Remove it, or fix the role, path or method.',
  },
  'role-without-rules': {
    summary: 'The role has no permissions.',
    help: 'The role key is probably mistyped. In a test, add "withoutRules: true" if the role has no rules on purpose.',
  },
  'role-spelling': {
    summary: 'The role key looks like another one.',
    help: 'Role keys are compared character by character. Use exactly the role key that tokens have.',
  },
  'role-wildcard': {
    summary: 'The role "*" does not match every role.',
    help: 'The role key is compared literally. Write one rule for each role, or an exclusion.',
  },
  'domain-wildcard': {
    summary: 'The domain "*" does not match every domain.',
    help: 'The domain is compared literally. Compare it with "*" in the matcher, or write one line for each domain.',
  },
  'deny-without-effect': {
    summary: 'The deny rule denies nothing.',
    help: 'No rule allows anything to this role. A mistyped role key here leaves the access open that you wanted to deny.',
  },
  'open-matcher': {
    summary: 'A clause of the matcher lets roles pass that it does not name.',
    help: 'Every role that the clause does not exclude passes, also roles that are created later. Name the roles with ==.',
  },
  'superuser-denied': {
    summary: 'A deny rule denies every call to a superuser.',
    help: 'The matcher makes every rule match the superuser, also the deny rules. Remove the superuser clause or the deny rules.',
  },
  'exclusion-business': {
    summary: 'An exclusion covers an endpoint that has rules.',
    help: 'Every authenticated caller may call an excluded endpoint, whatever the rules say. Remove the exclusion.',
  },
  'exclusion-changes': {
    summary: 'An exclusion covers a method that changes data.',
    help: 'Every authenticated caller may call an excluded endpoint. Use a rule for each role instead.',
  },
  'exclusion-wide': {
    summary: 'An exclusion covers every value of a parameter.',
    help: 'Every authenticated caller may read every object behind this path. Use a rule for each role instead.',
  },
  expired: {
    summary: 'The line has expired.',
    help: 'Gateways ignore it. Remove the line, or change the date of the comment "# postern: until" above it.',
  },
  'expires-soon': {
    summary: 'The line expires within 14 days.',
    help: 'Gateways ignore it from then on. If it is still needed, change the date of the comment "# postern: until" above it.',
  },
  'inline-comment': {
    summary: 'A comment is read as a part of the role key.',
    help: 'A comment needs a line of its own. Move it to the line above.',
  },
  'not-read': {
    summary: 'A file, or a comment that ignores a warning, has no effect.',
    help: 'Policy files belong directly in the policy directory, tests in tests/*_test.yaml. Move or rename the file, or correct the code in the comment.',
  },
  'role-new': {
    summary: 'The policy before this one does not name the role.',
    help: 'Check the spelling: most changes add no role.',
  },
  'role-similar': {
    summary: 'The role key is one typing error away from another one.',
    help: 'Correct the one that is mistyped. If both are right, write "# postern: ignore role-similar" above the line.',
  },
  'role-unassigned': {
    summary: 'No account can have the role.',
    help: 'Neither the role nor a role that inherits from it has a row in the table of roles. Correct the role key, or create the role.',
  },
  'unserved-path': {
    summary: 'No route serves the path.',
    help: 'Permitted callers get 404. Correct the path, or add a route to the configuration.',
  },
  'wide-rule': {
    summary: 'The rule allows very much.',
    help: 'It also allows endpoints that are added later. Name the resources and methods that the role needs.',
  },
}
