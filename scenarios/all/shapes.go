package all

// A Shape is a family of lock protocols that stand and fall together.
type Shape struct {
	// ID names the shape in flags and file names.
	ID string
	// Title says what the protocol does, and Is what it rests on and where it fails.
	Title, Is string
	// Variants are the protocols of this shape, each system/variant.
	Variants []string
	// Surveyed are the variants that stand for the shape in the table of hazards, each as good as the shape
	// gets with its kind of lock; empty where the shape is no lock to acquire and release.
	Surveyed []string
	// Fixed are the variants to copy instead, of this shape or another.
	Fixed []string
}

// Shapes lists the families, simple ones first. Every variant of [All] is in exactly one.
func Shapes() []Shape {
	return []Shape{
		{
			ID: "check-then-create", Title: "Look whether the lock is there, and then write it",
			Is: "Two calls decide what one must decide. Whoever looks between the other's look and its write finds the lock free as well.",
			Variants: []string{
				"ihub/rename", "ihub/rename-read-back",
				"ctx/stat-then-write", "dev3/mkdir-recursive", "dev3/mkdir-plain", "gunicorn/check-then-rename", "gunicorn/start-token",
				"vm-bhyve/hostname-lock", "vm-bhyve/empty-is-free", "vm-bhyve/synced-rename",
				"puppet/look-then-write", "rclone-bisync/look-then-write", "moby-pidfile/read-then-write",
				"snakemake/list-then-write", "nano/remove-then-create",
			},
			Surveyed: []string{"ctx/stat-then-write"},
			Fixed:    []string{"ctx/excl", "dev3/mkdir-plain", "gofrs-flock/keep-file"},
		},
		{
			ID: "create-exclusive", Title: "Create the lock file or fail, and remove it to release",
			Is: "One call decides (O_EXCL, mkdir, link): it keeps contenders apart on every file system. Nobody knows whether a file that is there has an owner, so whoever dies leaves it for ever, and a person removes it.",
			Variants: []string{
				"pacman/excl",
				"ctx/excl", "ctx/excl-cursor", "gateguard/excl-rmw", "git-lockfile/excl-rename", "sqlite-dotfile/mkdir", "kubeconfig/lock-over-all",
				"codex-plugin/locked-rmw", "pytorch-baton/wait-until-gone", "pytorch-baton/timeout",
				"aidevops/trap-first", "aidevops/flag-cleared-last", "aidevops/flag-cleared-first", "aidevops/trap-last", "aidevops/link-owned",
			},
			Surveyed: []string{"ctx/excl"},
			Fixed:    []string{"gofrs-flock/keep-file", "ctx/flock"},
		},
		{
			ID: "remove-stale", Title: "Judge the lock that is there, remove it by its name, create one's own",
			Is: "No call removes a name only if it is still that file. Between the judgement and the removal another contender may have done both and created its own lock, which is removed then. No second look, grace period or sleep closes the window; it only narrows it.",
			Variants: []string{
				"mulmoclaude/written-time", "mulmoclaude/file-time", "mulmoclaude/file-clock",
				"phantombot-runlock/unlink-then-create", "invoker/corrupt-is-stale", "compact-contracts/overwrite-stale", "compact-contracts/unlink-stale", "claude-remember/overwrite", "claude-remember/recreate-and-verify", "marionette-collective/look-then-exclusive", "md-redline/steal-old", "factory-factory/same-inode", "celo-rewards/overwrite-old", "openswarm/pid-only", "openswarm/pid-or-age", "khive/unlink-at-end", "khive/unlink-own-at-end", "agents-in-a-box/unlink-dead", "altimate-code/no-owner-is-stale", "demarkus/mkdir-then-pid", "prime-agent/remove-then-mkdir",
				"ctx/pid-cleanup", "ctx/pid-cleanup-empty-stale", "openclaw-takeover/rm-then-create", "openclaw-takeover/empty-is-stale",
				"emacs/unlink-dead", "itervox/empty-is-stale", "itervox/link-publish", "libreport/unlink-dead", "nightlyone-lockfile/link-samefile", "nightlyone-lockfile/own-pid-is-stale", "nightlyone-lockfile/eperm-is-dead", "nightlyone-lockfile/esrch-is-dead",
				"postgres/postmaster-pid", "npm-lockfile/unlink-stale", "npm-lockfile/lock-sync", "codex-plugin/locked-rmw-steal",
				"proper-lockfile/rmdir-mkdir", "proper-lockfile/future-is-stale", "instar/foreign-host-held", "instar/foreign-host-stale", "npm-cli-with-lock/release-twice",
				"npm-cli-with-lock/release-once",
				"mysql/unlink-dead", "gnupg/link", "shadow/prefix", "zsh-history/unlink-old", "xserver/link",
				"firefox/symlink", "tmux/flock", "h2/write-and-look",
			},
			Surveyed: []string{"itervox/link-publish"},
			Fixed: []string{"gofrs-flock/keep-file", "openclaw-takeover/flock",
				"openclaw-takeover/guarded", "git-gc-pid/guard-rejudge-replace"},
		},
		{
			ID: "move-aside", Title: "Rename the stale lock away, or one's own over it, and look afterwards",
			Is: "A rename moves, or replaces, whatever stands at the name by then. A look afterwards notices that a live lock was hit; the name was free meanwhile, and putting the lock back replaces a third contender's.",
			Variants: []string{
				"factory-factory/claim-and-restore", "noodle/rename-old", "proper-lockfile2/claim-by-rename", "mstar-harness/restore-fresh", "prime-agent/candidate-rename", "agents-in-a-box/rename-dead",
				"filelock/soft-rename-aside", "filelock/soft-verify-mtime", "filelock/soft-verify-inode", "filelock/soft-private-name",
				"remnic/rename-back", "openclaw-takeover/rename", "openlock/replace-read-back",
			},
			Surveyed: []string{"filelock/soft-private-name"},
			Fixed: []string{"filelock/unix-truncate-after-lock", "openclaw-takeover/flock",
				"openclaw-takeover/guarded"},
		},
		{
			ID: "guarded-reclaim", Title: "Reclaim a stale lock under a second lock, and judge it again inside",
			Is: "Mutual exclusion holds as long as the second lock is nobody's to reclaim. Whoever is killed while it has the second lock leaves that one, so recovery is lost; a second lock that is itself reclaimed, by age or by its text, brings the race back.",
			Variants: []string{
				"add-installer/same-inode", "add-installer/same-inode-and-age",
				"openclaw-takeover/guarded", "git-gc-pid/guard-rejudge-replace", "npm-lockfile/stale-guard", "llxprt-code/guard-is-hard-link",
				"shadow/lckpwdf", "qt-qlockfile/flock-and-guard", "mercurial/guard", "mercurial/guard-and-judge-again",
				"firefox/record-and-symlink",
				"tmux/flock-then-connect",
			},
			Surveyed: []string{"git-gc-pid/guard-rejudge-replace"},
			Fixed:    []string{"openclaw-takeover/guarded", "gofrs-flock/keep-file"},
		},
		{
			ID: "lease", Title: "A lock that ends by its age, and is renewed or released by its owner",
			Is: "An owner that stands still is overtaken, and then goes on: it works beside its successor, and its renewal or release hits the successor's lock. A renewal or release through the owner's own descriptor reaches only its own file; nothing but a fencing token at the resource stops its work.",
			Variants: []string{
				"gateguard/lease-rmw", "carina/renew-by-rename", "carina/renew-by-fd", "vellum/release-by-path", "vellum/release-checked", "vellum/release-by-fd",
			},
			Surveyed: []string{"vellum/release-by-fd"},
			Fixed:    []string{"carina/renew-by-fd", "vellum/release-by-fd", "gateguard/flock-rmw"},
		},
		{
			ID: "kernel-lock-kept", Title: "A kernel lock (flock, fcntl) on a file that nobody removes",
			Is: "The kernel knows the owner and lets the lock go when it ends, however it ends. The file is no lock, only its place: that it lies there means nothing. This is the shape to choose.",
			Variants: []string{
				"hermit/keep-file", "hermit/empty-on-release", "fslock/flock", "filelock/unix-keep-file", "filelock/unix-unlock-in-child", "filelock/unix-close-in-child",
				"gofrs-flock/keep-file", "ctx/flock", "gateguard/flock-rmw", "openclaw-takeover/flock", "agentwire/flock-only", "rubygems/keep-file",
				"dpkg/fcntl-permanent", "lockedfile/truncate-after-lock", "lockedfile/transform", "jib/keep-file", "gascity/scan-under-flock",
				"gascity/counter-under-flock", "materialize/inherited", "materialize/waits-for-child", "materialize/close-on-exec", "cargo/two-names", "cargo/both-names",
				"chef/keep-file", "containers-storage/record-lock", "redis-cluster/in-place", "mongod/keep-file",
				"bbolt/keep-file", "codex/append-under-flock",
			},
			Surveyed: []string{"gofrs-flock/keep-file", "dpkg/fcntl-permanent"},
			Fixed:    []string{"gofrs-flock/keep-file"},
		},
		{
			ID: "kernel-lock-removed", Title: "A kernel lock on a file that is removed after use",
			Is: "Whoever has opened the file before it was removed locks a file without a name, while the next one creates a new file and locks that. Removing before or after the unlock only moves the window, and so does a check that only the remover makes.",
			Variants: []string{
				"hermit/unlink-on-release", "ilock/unlink-then-close", "patchify/unlink-on-drop", "filelock/unix-unlink-on-release",
				"gofrs-flock/unlink-after-unlock", "portalocker/unlink-after-unlock", "portalocker/second-release", "portalocker/verify-only",
				"simpleflock/unlink-after-unlock", "simpleflock/unlink-before-unlock", "rubygems/cleanup-after-close", "jib/delete-after-unlock",
				"agentwire/blind-unlink", "agentwire/gated-unlink", "lockgate/gc-trylock-unlink", "bundler/process-lock",
				"go4-lock/remove-held", "keybase/remove-after-close",
				"opkg/remove-after-close", "prometheus/remove-after-close",
				"terraform/remove-empty", "vagrant/delete-unguarded",
				"redis-cluster/rename-over", "logrotate/rename-over",
				"jdk-file-handler/delete-after-close", "dnf/judge-under-flock", "homebrew/cleanup",
			},
			Surveyed: []string{"gofrs-flock/unlink-after-unlock"},
			Fixed: []string{"gofrs-flock/keep-file", "portalocker/verify-and-unlink-held",
				"freebsd-pidfile/flopen", "lockgate/gc-nlink-check"},
		},
		{
			ID: "kernel-lock-verified", Title: "A kernel lock on a file that only its holder removes, and every acquirer compares with its name",
			Is: "After it has the lock, an acquirer asks whether the file still stands at its name (inode number, link count), and starts over if not. Both halves are needed: removal by the holder only, and the look by everybody.",
			Variants: []string{
				"portalocker/verify-and-unlink-held", "portalocker/pidfile-sidecar", "freebsd-pidfile/flopen", "systemd/make-lock-file",
				"lockgate/gc-nlink-check", "nix/unlink-then-mark", "nix/wait-eintr", "nix/wait-checked",
				"homebrew/compare-inode", "certbot/compare-inode", "libvirt/compare-inode", "jj/count-links",
				"portage/compare-by-link",
			},
			Surveyed: []string{"portalocker/verify-and-unlink-held"},
			Fixed: []string{"portalocker/verify-and-unlink-held", "freebsd-pidfile/flopen",
				"systemd/make-lock-file"},
		},
		{
			ID: "owner-record", Title: "A locked file that also names its holder",
			Is: "The record is right only if nobody writes or truncates it without the lock, and nobody takes the lock merely to ask. Opening with O_TRUNC empties the holder's record; a probe that locks refuses a real contender.",
			Variants: []string{
				"agentwire/truncating-open", "agentwire/probe-by-locking", "filelock/unix-truncating-open", "filelock/unix-truncate-after-lock", "filelock/follow-symlink", "filelock/nofollow", "zc-lockfile/append-on-create",
				"libvirt/probe-by-locking",
			},
			Surveyed: []string{"filelock/unix-truncate-after-lock"},
			Fixed:    []string{"filelock/unix-truncate-after-lock", "portalocker/pidfile-sidecar"},
		},
		{
			ID: "own-file-each", Title: "Everybody makes a file of his own, and looks for others before and after",
			Is:       "Names are unique, so nobody ever removes what is another's. Two who announce themselves at once both withdraw, and whoever dies leaves its file until somebody is asked to clean up.",
			Variants: []string{"restic/own-file", "borg/candidate-recheck", "borg/candidate-kept"},
			Surveyed: []string{"borg/candidate-recheck"},
			Fixed:    []string{"borg/candidate-recheck", "gofrs-flock/keep-file"},
		},
		{
			ID: "process-table", Title: "A table in memory keeps the threads of a process apart, a file or record lock the processes",
			Is: "The order of the two decides: the table first when locking, last when releasing. An fcntl lock belongs to the process, and the close of any descriptor of the file drops it, so a thread that opens the file only to look takes the lock from its sister.",
			Variants: []string{
				"fslock/lockf",
				"fasteners/lockf", "fasteners/flag", "fasteners/mutex", "lucene/native", "rocksdb/open-then-table", "rocksdb/table-then-open",
				"openclaw-release/original", "openclaw-release/original-starttime", "openclaw-release/in-flight", "openclaw-release/option-a",
				"openclaw-release/option-b-reentrant", "openclaw-release/option-b-join", "openclaw-release/option-b-join-reread",
			},
			Surveyed: []string{"rocksdb/table-then-open"},
			Fixed: []string{"rocksdb/table-then-open", "fasteners/mutex",
				"openclaw-release/option-b-join-reread", "jib/keep-file"},
		},
		{
			ID: "lock-upgrade", Title: "A shared lock that becomes exclusive",
			Is: "flock(2) lets the shared lock go before it takes the exclusive one, also when that is refused: what was read is old by then. OFD and fcntl locks keep it, so two upgrades wait for each other.",
			Variants: []string{
				"gofrs-flock/refused-upgrade", "gofrs-flock/upgrade-no-reread", "gofrs-flock/upgrade-reread", "nix/upgrade-flock", "nix/upgrade-ofd",
			},
			Fixed: []string{"gofrs-flock/upgrade-reread"},
		},
		{
			ID: "several-locks", Title: "Several locks at once, or readers and a writer",
			Is: "Locks that are taken in two orders deadlock; letting all go and starting over may repeat for ever; readers that overlap keep a writer out for ever.",
			Variants: []string{
				"nix/keep-until-exit", "nix/unlock-early", "nix/same-file-twice", "conda-build/each-blocking", "conda-build/in-one-order",
				"conda-build/all-or-release", "cranpose/reader-stream",
			},
			Fixed: []string{"conda-build/in-one-order", "nix/unlock-early"},
		},
		{
			ID: "read-modify-write", Title: "Read a state file, change it, write it back, without one lock around all three",
			Is: "An atomic write is no lock, and a lock around the write alone is none either: what is written was read before. Merging before the write narrows the window.",
			Variants: []string{
				"gateguard/rmw", "gateguard/heartbeat", "gateguard/merge-save", "gateguard/expiry-unlink", "gateguard/key-files", "kubeconfig/no-lock",
				"kubeconfig/lock-in-write", "kubeconfig/lock-in-modify", "codex-plugin/in-place", "codex-plugin/rename", "gascity/scan-then-append",
				"vim/merge-and-rename",
			},
			Fixed: []string{"gateguard/flock-rmw", "gateguard/key-files",
				"kubeconfig/lock-over-all", "gascity/scan-under-flock"},
		},
		{
			ID: "atomic-write", Title: "Write a private file and rename it over the name",
			Is:       "A reader sees the old text or the new one, whole. After a power loss that is so only if the file was synced before the rename, and the new one is sure only if the directory was synced after it.",
			Variants: []string{"write-file-atomic/no-fsync", "write-file-atomic/fsync-file", "write-file-atomic/fsync-file-and-dir", "write-file-atomic/no-cleanup", "write-file-atomic/cleanup"},
			Fixed:    []string{"write-file-atomic/fsync-file-and-dir", "write-file-atomic/cleanup"},
		},
	}
}
