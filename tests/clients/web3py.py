"""web3.py used the ordinary way, with the one middleware that every proof-of-authority chain needs.

Arguments: RPC URL, WebSocket URL, private key; or RPC_URL, WS_URL, PRIVATE_KEY in the environment.
CHAIN_ID in the environment replaces the devnet's.
"""

import asyncio
import json
import os
import pathlib
import signal
import sys
import traceback

from eth_account import Account
from web3 import AsyncWeb3, Web3, WebSocketProvider
from web3.exceptions import ContractCustomError, ContractLogicError, Web3RPCError
from web3.middleware import ExtraDataToPOAMiddleware, SignAndSendRawMiddlewareBuilder

CHAIN_ID = int(os.environ.get("CHAIN_ID", "8845"), 0)
TIME_LIMIT_SECONDS = 120
RECIPIENT = Web3.to_checksum_address("0x00000000000000000000000000000000000c1e45")
COUNTER = json.loads(pathlib.Path(__file__).with_name("Counter.json").read_text())

current_step = "start"


def target():
    names = ("RPC_URL", "WS_URL", "PRIVATE_KEY")
    given = [*sys.argv[1:4], *(os.environ.get(name) for name in names[len(sys.argv[1:4]) :])]
    if not all(given):
        sys.exit("needs an RPC URL, a WebSocket URL and the private key of a funded account")
    return given


RPC_URL, WS_URL, PRIVATE_KEY = target()
account = Account.from_key(PRIVATE_KEY)
w3 = Web3(Web3.HTTPProvider(RPC_URL))
# IBFT 2.0 puts validators and seals into extraData, which is longer than the 32 bytes web3.py expects of a block;
# this middleware, which web3.py ships for proof-of-authority chains, moves the field to `proofOfAuthorityData`.
w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
w3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
w3.eth.default_account = account.address


def check(condition, expectation):
    if not condition:
        raise AssertionError(f"expected {expectation}")


def transfer(fees, kind, value):
    before = w3.eth.get_balance(RECIPIENT)
    tx_hash = w3.eth.send_transaction({"to": RECIPIENT, "value": value, **fees})
    receipt = w3.eth.wait_for_transaction_receipt(tx_hash, timeout=30, poll_latency=0.2)
    check(receipt.status == 1 and receipt.type == kind, f"a successful receipt of type {kind}, got {receipt.type}")
    check(receipt.gasUsed == 21_000, f"21000 gas, got {receipt.gasUsed}")
    arrived = w3.eth.get_balance(RECIPIENT) - before
    check(arrived == value, f"{value} wei to arrive, got {arrived}")
    check(w3.eth.get_transaction(tx_hash)["from"] == account.address, "the signer to be found")
    return f"block {receipt.blockNumber}"


class Run:
    """The steps in order; they share the deployed contract."""

    def chain_id(self):
        check(w3.is_connected(), "a connection")
        check(w3.eth.chain_id == CHAIN_ID, f"{CHAIN_ID}, got {w3.eth.chain_id}")

    def eip_1559_transfer(self):
        tip = w3.eth.max_priority_fee
        base_fee = w3.eth.get_block("latest").baseFeePerGas
        fees = {"maxFeePerGas": 2 * base_fee + tip, "maxPriorityFeePerGas": tip}
        return transfer(fees, 2, Web3.to_wei("0.5", "ether"))

    def legacy_transfer(self):
        return transfer({"gasPrice": w3.eth.gas_price}, 0, Web3.to_wei("0.25", "ether"))

    def deploy_a_contract(self):
        factory = w3.eth.contract(abi=COUNTER["abi"], bytecode=COUNTER["bytecode"])
        receipt = w3.eth.wait_for_transaction_receipt(factory.constructor(7).transact(), timeout=30, poll_latency=0.2)
        check(receipt.status == 1, "the deployment to succeed")
        self.deployed_in = receipt.blockNumber
        self.counter = w3.eth.contract(address=receipt.contractAddress, abi=COUNTER["abi"])
        return receipt.contractAddress

    def read_it(self):
        check(self.counter.functions.value().call() == 7, "the value of the constructor")

    def estimate_gas_then_write(self):
        gas = self.counter.functions.increase(5).estimate_gas()
        tx_hash = self.counter.functions.increase(5).transact({"gas": gas})
        receipt = w3.eth.wait_for_transaction_receipt(tx_hash, timeout=30, poll_latency=0.2)
        check(receipt.status == 1, "the estimate to suffice")
        (event,) = self.counter.events.Increased().process_receipt(receipt)
        check(event.args.value == 12, "the event in the receipt")
        check(self.counter.functions.value().call() == 12, "the new value")
        return f"{gas} estimated, {receipt.gasUsed} used"

    def read_an_old_state(self):
        value = self.counter.functions.value().call(block_identifier=self.deployed_in)
        check(value == 7, f"the value before the write, got {value}")

    def logs_by_topic_decoded(self):
        event = self.counter.events.Increased()
        (log,) = event.get_logs(from_block=self.deployed_in, argument_filters={"by": account.address})
        check(log.args.value == 12, "one decoded event")
        none = event.get_logs(from_block=self.deployed_in, argument_filters={"by": RECIPIENT})
        check(none == [], "no event of another account")

    def reason_of_a_revert(self):
        # Besu answers -32000 (a plain RPC error for web3.py), geth answers 3 (a ContractLogicError); both carry the reason.
        try:
            self.counter.functions.increase(0).call()
        except (ContractLogicError, Web3RPCError) as error:
            check("nothing to add" in str(error), f"the reason, got {error}")
        else:
            raise AssertionError("expected a revert")

    def custom_error_of_a_revert(self):
        try:
            self.counter.functions.increase(101).call()
        except ContractCustomError as error:
            name, arguments = self.decode_custom_error(error.data)
            check(name == "TooLarge" and arguments["given"] == 101, "the decoded custom error")
        else:
            raise AssertionError("expected a revert")

    def decode_custom_error(self, data):
        raw = Web3.to_bytes(hexstr=data)
        for entry in COUNTER["abi"]:
            if entry["type"] != "error":
                continue
            types = [field["type"] for field in entry["inputs"]]
            if Web3.keccak(text=f"{entry['name']}({','.join(types)})")[:4] == raw[:4]:
                values = w3.codec.decode(types, raw[4:])
                return entry["name"], dict(zip((field["name"] for field in entry["inputs"]), values))
        raise AssertionError(f"expected an error of the contract, got {data}")

    def proof_of_an_account_and_a_slot(self):
        block = w3.eth.get_block("latest")
        proof = w3.eth.get_proof(self.counter.address, ["0x" + "00" * 32], block.number)
        check(Web3.keccak(proof.accountProof[0]) == block.stateRoot, "the proof to start at the state root")
        check(int.from_bytes(proof.storageProof[0].value, "big") == 12, "the slot to hold the counter")

    def fee_history(self):
        history = w3.eth.fee_history(3, "latest", [50])
        check(len(history.baseFeePerGas) == 4 and len(history.reward) == 3, "three blocks and the next base fee")

    def a_batch(self):
        with w3.batch_requests() as batch:
            batch.add(w3.eth.get_block("latest"))
            batch.add(w3.eth.get_balance(account.address))
            batch.add(self.counter.functions.value())
            block, balance, value = batch.execute()
        check(block["hash"] and balance > 0 and value == 12, "three answers")

    def new_heads_over_websocket(self):
        return asyncio.run(self.listen())

    async def listen(self):
        heads = []
        async with AsyncWeb3(WebSocketProvider(WS_URL)) as socket:
            socket.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
            await socket.eth.subscribe("newHeads")
            async for message in socket.socket.process_subscriptions():
                heads.append(message["result"]["number"])
                if len(heads) == 2:
                    break
        check(heads[1] == heads[0] + 1, f"consecutive heads, got {heads}")
        return f"{heads[0]}, {heads[1]}"


STEPS = {
    "chain id": Run.chain_id,
    "EIP-1559 transfer": Run.eip_1559_transfer,
    "legacy transfer": Run.legacy_transfer,
    "deploy a contract": Run.deploy_a_contract,
    "read it": Run.read_it,
    "estimate gas, then write": Run.estimate_gas_then_write,
    "read an old state": Run.read_an_old_state,
    "logs by topic, decoded": Run.logs_by_topic_decoded,
    "reason of a revert": Run.reason_of_a_revert,
    "custom error of a revert": Run.custom_error_of_a_revert,
    "proof of an account and a slot": Run.proof_of_an_account_and_a_slot,
    "fee history": Run.fee_history,
    "a batch": Run.a_batch,
    "newHeads over WebSocket": Run.new_heads_over_websocket,
}


def on_time_limit(_signal, _frame):
    raise TimeoutError(f"no answer within {TIME_LIMIT_SECONDS} s")


def main():
    global current_step
    signal.signal(signal.SIGALRM, on_time_limit)
    signal.alarm(TIME_LIMIT_SECONDS)
    run = Run()
    for current_step, step in STEPS.items():
        detail = step(run)
        print(f"ok web3.py: {current_step}" + (f" ({detail})" if detail else ""), flush=True)


try:
    main()
except Exception:
    print(f"FAILED web3.py: {current_step}: {traceback.format_exc()}", file=sys.stderr)
    sys.exit(1)
