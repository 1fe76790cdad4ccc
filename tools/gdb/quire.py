"""gdb commands for Quire: quire-zones, quire-runqueues, quire-tasks, quire-stacks and quire-cpu N.

Loaded by `make debug`. They read the kernel's own structures through its debug information, so they
work on a stopped or crashed kernel, where no file can be read any more.
"""
import gdb

STATES = {0: "running", 1: "sleeping", 2: "waiting", 4: "stopped", 8: "killable", 16: "dead",
          32: "new", 64: "idle"}


def value(expression):
    return gdb.parse_and_eval(expression)


def cpus():
    return int(value("nr_possible_cpus"))


def per_cpu(name, cpu):
    """The copy of a per-CPU variable that belongs to a CPU."""
    original = value(f"&{name}")
    offset = int(value(f"__per_cpu_offset[{cpu}]"))
    address = (int(original) + offset) & (2**64 - 1)
    return gdb.Value(address).cast(original.type).dereference()


def container(node, kind, member):
    """The struct of type kind whose member lies at pointer node."""
    outer = gdb.lookup_type(kind)
    offset = next(f.bitpos // 8 for f in outer.fields() if f.name == member)
    return gdb.Value(int(node) - offset).cast(outer.pointer())


def list_entries(head, kind, member):
    node, end = head["next"], int(head.address)
    seen = 0
    while int(node) != end and seen < 100000:
        yield container(node, kind, member)
        node = node["next"]
        seen += 1


class Command(gdb.Command):
    """A command whose name and help come from its class."""

    def __init__(self):
        super().__init__(self.name, gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        try:
            self.run(argument)
        except gdb.error as error:
            print(f"{self.name}: {error}")


class Zones(Command):
    """Memory zones: frames, watermarks, free blocks by order."""
    name = "quire-zones"

    def run(self, argument):
        for n in range(int(value("nr_nodes"))):
            node = value(f"nodes[{n}]")
            if not int(node):
                continue
            for i in range(int(node["nr_zones"])):
                zone = node["zones"][i]
                if not int(zone["managed_pages"]):
                    continue
                marks = "/".join(str(int(zone["watermark"][w])) for w in range(3))
                area = zone["buddy"]["area"]
                low, high = area.type.range()
                free = " ".join(str(int(area[o]["nr_free"])) for o in range(low, high + 1))
                print(f"node {n} {zone['name'].string():8} pfn {int(zone['start_pfn']):#9x} "
                      f"managed {int(zone['managed_pages']):8} "
                      f"free {int(zone['buddy']['nr_free_pages']):8} min/low/high {marks}")
                print(f"    free blocks by order: {free}")


class RunQueues(Command):
    """Run queues: who runs on each CPU, and how many wait."""
    name = "quire-runqueues"

    def run(self, argument):
        for cpu in range(cpus()):
            rq = per_cpu("runqueues", cpu)
            current = rq["curr"]
            who = current["comm"].string() if int(current) else "nobody"
            print(f"cpu {cpu}: {who} (level {int(rq['curr_level'])}), {int(rq['nr_running'])} runnable, "
                  f"{int(rq['fair']['nr'])} fair, {int(rq['nr_switches'])} switches")


class Tasks(Command):
    """Threads: tid, state, CPU, name."""
    name = "quire-tasks"

    def run(self, argument):
        print("    tid   tgid  cpu state     nice      run ms  name")
        for t in list_entries(value("thread_list"), "struct thread", "all_node"):
            state = STATES.get(int(t["state"]), hex(int(t["state"])))
            kind = "" if int(t["mm"]) else " (kernel)"
            print(f"{int(t['tid']):7} {int(t['tgid']):6} {int(t['cpu']):4} {state:9} "
                  f"{int(t['nice']):4} {int(t['sum_exec_ns']) / 1e6:11.3f}  {t['comm'].string()}{kind}")


class Stacks(Command):
    """quire-stacks [NAME]: where every sleeping thread (of that name) stands, by its frame pointers."""
    name = "quire-stacks"

    def run(self, argument):
        word = gdb.lookup_type("unsigned long")
        for t in list_entries(value("thread_list"), "struct thread", "all_node"):
            if argument and t["comm"].string() != argument:
                continue
            print(f"{int(t['tid'])} {t['comm'].string()} {STATES.get(int(t['state']), '?')} cpu {int(t['cpu'])}")
            if not int(t["state"]):
                continue                        # on a CPU or about to be: quire-cpu N and bt
            saved = int(t["arch"]["rsp"])       # as arch_switch_stacks left it: 4 words, rbp, rbx, rip
            low, high = int(t["stack"]), int(t["stack"]) + 16384

            def load(address):
                return int(gdb.Value(address).cast(word.pointer()).dereference())

            frame, pc = load(saved + 32), load(saved + 48)
            for _ in range(24):
                print(f"    {gdb.execute(f'info symbol {pc:#x}', to_string=True).strip()}")
                if not low <= frame < high - 16:
                    break
                frame, pc = load(frame), load(frame + 8)


class Cpu(Command):
    """quire-cpu N: select the registers of CPU N."""
    name = "quire-cpu"

    def run(self, argument):
        gdb.execute(f"thread {int(argument or 0) + 1}")


for command in (Zones, RunQueues, Tasks, Stacks, Cpu):
    command()
