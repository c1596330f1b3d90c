// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What a reason of a condition means. */
interface ReasonMeaning {
  /** The status that the condition has with this reason. */
  readonly status: 'True' | 'False' | 'Unknown'
  /** When it is set. */
  readonly when: string
  /** What a user does about it; null when there is nothing to do. */
  readonly remedy: string | null
}

/** A condition: what its status means, and every reason that it can have. */
export interface ConditionMeaning {
  readonly meaning: string
  readonly reasons: Readonly<Record<string, ReasonMeaning>>
}

function reason<const Status extends ReasonMeaning['status']>(status: Status) {
  return (when: string, remedy: string | null = null) => ({ status, when, remedy })
}

const holds = reason('True')
const fails = reason('False')
const unknown = reason('Unknown')

function condition<Reasons extends ConditionMeaning['reasons']>(meaning: string, reasons: Reasons) {
  return { meaning, reasons }
}

const resolvedRefs = condition(
  'Every Secret and ConfigMap that it refers to exists and has the key.',
  {
    ResolvedRefs: holds('All references are good.'),
    SecretNotFound: fails(
      'A Secret that is referred to does not exist, or is a release of Helm (type helm.sh/release.v1), which is not read.',
      'Create the Secret in the same namespace, or correct the reference. It is picked up at once.',
    ),
    SecretKeyNotFound: fails(
      'A Secret lacks the key that is referred to, or the key is empty.',
      'Add the key to the Secret, or correct the reference. It is picked up at once.',
    ),
    ConfigMapNotFound: fails(
      'A ConfigMap that is referred to does not exist.',
      'Create the ConfigMap in the same namespace, or correct the reference.',
    ),
    ConfigMapKeyNotFound: fails(
      'A ConfigMap lacks the key that is referred to, or the key is empty.',
      'Add the key to the ConfigMap, or correct the reference.',
    ),
  },
)

const invalidSpec = fails(
  'A field of the spec cannot be right, though the API server let it pass.',
  'Correct the field that the message names.',
)

const invalidConfig = fails(
  'The router would refuse the config that follows from it; the message names the field.',
  'Correct the field.',
)

/** Conditions of an RpcRouter. `docs/reference/conditions.md` is made of this table. */
export const rpcRouterConditions = {
  Accepted: condition(
    'The spec and the selected providers make a config that the router would start with.',
    {
      Accepted: holds('The config is good.'),
      PartiallyAccepted: holds(
        'The config is good without some of the selected providers, which the message names.',
        'Look at the conditions of the providers that the message names.',
      ),
      InvalidSpec: invalidSpec,
      InvalidConfig: invalidConfig,
      Unsupported: fails(
        'It asks for something that this version of the router does not do; the message is the sentence of the router.',
        'Remove the setting, or upgrade the router and the operator.',
      ),
      UnknownChain: fails(
        'No chain spec has the chain of an endpoint, or the chain does not have its interface.',
        'Correct chainId or apiInterface, or add the spec of the chain with specSources.',
      ),
      NoProviders: fails(
        'An endpoint has no accepted provider that serves its chain and interface. It stays closed, and the others are served. Where pods serve it, or when there is no other, nothing is changed: they go on with the last good config.',
        'Create an UpstreamProvider for it with labels that providerSelector matches, or look at the conditions of those that exist.',
      ),
    },
  ),
  ResolvedRefs: {
    ...resolvedRefs,
    meaning:
      'Every Secret and ConfigMap exists that the router itself refers to, or without which an endpoint could not be served. What else its providers lack is in the status of each provider.',
  },
  Programmed: condition(
    'The objects of this generation were applied, and every pod that was seen serves its config.',
    {
      Programmed: holds('All objects are applied, and no pod is known to serve another config.'),
      ConfigPending: fails(
        'All objects are applied, and the pods that the message names serve another config yet. Pods take a change over when the kubelet has brought it to them, within one or two minutes; those of an older revision go.',
        'If it stays, look at the log of such a pod: the lines that begin with "config:" say why it refuses the config.',
      ),
      RolloutQueued: fails(
        'The pods have to be replaced, and as many other routers replace theirs as may do so at once. It is tried again every few seconds.',
        'Wait. The flag --max-rolling-routers of the operator is the bound; rollouts that are stalled do not count.',
      ),
      NotAccepted: fails(
        'Accepted or ResolvedRefs is False, so nothing was changed: the last good config is kept. The message says whether pods serve.',
        'Look at these conditions.',
      ),
      NameConflict: fails(
        'An object of a name that the router needs exists and is not its own. The operator does not touch it.',
        'Rename the router, or delete the object that the message names.',
      ),
      StillDeleting: fails(
        'An object that the router needs is still being deleted: its own, or one of an earlier router of this name. It is waited for.',
        'If it stays, look at the finalizers that the message names, and at what put them there.',
      ),
      FieldsContested: fails(
        'Another writer sets fields of an object of the router as fast as the operator takes them back, or three times within five minutes.',
        'Stop the writer that the message names, or let the spec of the router say what it sets.',
      ),
      ApplyFailed: fails(
        'The API server refused an object, or failed at it for a while; the message has its answer. It is tried again, every two minutes at least.',
        'Act on the answer: often a quota, an admission policy or webhook, or a field of spec.pod.',
      ),
      Paused: fails(
        'The annotation rpcrouter.dev/paused has a value other than "false": nothing is changed.',
        'Remove the annotation.',
      ),
      ProgrammedWithoutMonitor: holds(
        'All objects are applied but the one of spec.monitoring: the cluster does not know its kind. It is looked for every minute.',
        'Install the Prometheus operator: the monitor is then applied by itself.',
      ),
    },
  ),
  Available: condition(
    'Enough pods are ready to serve, be they of this generation or of an older one.',
    {
      MinimumReplicasAvailable: holds('The Deployment has its minimum of available pods.'),
      MinimumReplicasUnavailable: fails(
        'Too few pods are ready.',
        'Look at the pods and their logs: kubectl describe pod, kubectl logs.',
      ),
      ScaledToZero: fails(
        'No pod is wanted.',
        'kubectl scale the router to one or more; with autoscaling, its Deployment: an autoscaler does nothing at zero.',
      ),
      NotProgrammed: fails(
        'No config has been good yet, or the API server has refused what it takes to run it, so there are no pods.',
        'Look at Accepted, ResolvedRefs and Programmed.',
      ),
    },
  ),
  Progressing: condition(
    'A rollout is under way, by the status of the Deployment. A pod that fails or a count that changes is no rollout.',
    {
      RolloutInProgress: holds('Pods of the newest revision are on their way.'),
      RolloutComplete: fails('All pods are of the newest revision.'),
      ReplicaFailure: fails(
        'Kubernetes cannot create a pod; the message has its words.',
        'Act on the message: often a quota, a PriorityClass that is missing, or pod security.',
      ),
      RolloutStalled: fails(
        'The newest revision made no progress within progressDeadlineSeconds. The old pods keep serving.',
        'Look at the newest pods and their logs; correct the cause, or kubectl rollout undo the Deployment while the router is paused.',
      ),
      NotProgrammed: fails('Nothing was applied, so nothing rolls out.', 'Look at Programmed.'),
    },
  ),
  Ready: condition(
    'This generation serves: Accepted, ResolvedRefs, Programmed and Available are True, and enough of the pods are of this generation. False in a rollout, while Available says that older pods serve.',
    {
      Ready: holds('All of that holds.'),
      NotAccepted: fails(
        'Accepted is not True. With NoProviders and Programmed True, the endpoints that the message does not name are served as they are written; with Programmed False the last good config keeps serving.',
        'Look at Accepted.',
      ),
      RefsNotResolved: fails(
        'ResolvedRefs is not True. Programmed says whether anything was changed; if not, the last good config is kept.',
        'Look at ResolvedRefs.',
      ),
      NotProgrammed: fails('Programmed is not True.', 'Look at Programmed.'),
      NotAvailable: fails('Available is not True.', 'Look at Available.'),
      NotRolledOut: fails(
        'Too few pods of this generation are ready yet. Older ones serve.',
        'Wait for the rollout; if it does not end, look at Progressing.',
      ),
    },
  ),
}

/** Conditions of an UpstreamProvider. */
export const upstreamProviderConditions = {
  Accepted: condition('The provider makes an upstream that a router would start with.', {
    Accepted: holds('It is good.'),
    InvalidSpec: invalidSpec,
    InvalidConfig: invalidConfig,
    UnknownVariable: fails(
      'A text has a ${NAME} that is not among the variables of the provider.',
      'Add the variable, or correct its name.',
    ),
    UnknownChain: fails(
      'No chain spec has its chain, or the chain does not have its interface.',
      'Create it again with the right chainId and apiInterface, or add the spec of the chain to the router.',
    ),
    DuplicateName: fails(
      'An older provider that the same router selects has this name for the same chain and interface.',
      'Give one of them another upstreamName, or other labels.',
    ),
    ChainNotServed: fails(
      'The router that selects it has no endpoint for its chain and interface.',
      'Add an endpoint to the router, or other labels to the provider.',
    ),
  }),
  ResolvedRefs: resolvedRefs,
  Programmed: condition(
    'The newest config that was applied for the router holds the provider. Only in status.routers[].',
    {
      Programmed: holds('It was applied.'),
      NotProgrammed: fails(
        'The newest config of the router could not be applied, or does not hold the provider.',
        'Look at the conditions of the router.',
      ),
    },
  ),
  Ready: condition(
    'At least one router is configured with it, none that selects it refused it, and its node is not known to be out of use. Whether pods serve with it yet is in the condition Ready of that router; whether its node works now, in Healthy.',
    {
      Ready: holds('A router that selects it has applied it as it is written.'),
      NotAccepted: fails('Accepted is not True.', 'Look at Accepted, and at status.routers[].'),
      RefsNotResolved: fails('ResolvedRefs is not True.', 'Look at ResolvedRefs.'),
      NotSelected: fails(
        'No router selects it.',
        'Give it labels that the providerSelector of a router matches.',
      ),
      NotProgrammed: fails(
        'No router that selects it has applied it.',
        'Look at status.routers[] and at the conditions of the routers.',
      ),
      NotHealthy: fails(
        'No pod that was asked can use it: Healthy has the reason Disabled, Rejected or Unverified.',
        'Look at Healthy.',
      ),
    },
  ),
  Healthy: condition(
    'The pods find that its node works: overall, and in status.routers[] by router. Each router is looked at every 30 s, and what two looks show alike counts, so it is a minute late. After a change it is that of the old pods until the rollout is over.',
    {
      Serving: holds('Its node answers, and calls go to it.'),
      Lagging: fails(
        'It is further behind the chain than the chain allows: calls about the newest blocks go elsewhere.',
        'Look at the sync of the node.',
      ),
      HeldOff: fails(
        'Each of its URLs is in cooldown: it limited the rate, or said that it is unavailable.',
        'Raise the plan, or add providers that share the load.',
      ),
      Disabled: fails(
        'It failed too often in a row: calls go elsewhere until it answers again.',
        'Look at the log of the pods and at the node.',
      ),
      Rejected: fails(
        'None of its URLs passes its verifications: often it is of another chain.',
        'The log of the pods says which verification failed, and why.',
      ),
      Unverified: fails(
        'None of its URLs has been verified yet: mostly it cannot be reached, or refuses the key.',
        'The log of the pods says why. Look at the URL, the key, and what lets the pods out.',
      ),
      PodsDiffer: fails(
        'Pods see it differently, or routers do; the message counts them.',
        'Look at status.routers[]; then at the network of the pods, their nodes and zones.',
      ),
      NotObserved: unknown(
        'No pod was asked, or none of those that answer has it in its config.',
        'The message says why. An operator outside of the cluster does not look at pods (--observe-pods), nor can it where a NetworkPolicy forbids it; older routers have no such page.',
      ),
    },
  ),
}

export type RpcRouterConditionType = keyof typeof rpcRouterConditions
export type UpstreamProviderConditionType = keyof typeof upstreamProviderConditions

/** The reasons that a condition of an RpcRouter can have. */
export type RpcRouterReason<T extends RpcRouterConditionType> =
  keyof (typeof rpcRouterConditions)[T]['reasons'] & string

/** The reasons that a condition of an UpstreamProvider can have. */
export type UpstreamProviderReason<T extends UpstreamProviderConditionType> =
  keyof (typeof upstreamProviderConditions)[T]['reasons'] & string
